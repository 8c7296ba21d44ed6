// Runs tests in Pyodide: Python in WebAssembly, without threads, sockets or processes.
//
//     node run.mjs <folder with node_modules and wheels> <project> <test files...>

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { pathToFileURL } from "node:url";

const [scratch, project, ...tests] = argv.slice(2);
const pyodide = pathToFileURL(join(scratch, "node_modules", "pyodide", "pyodide.mjs"));
const { loadPyodide } = await import(pyodide);

const python = await loadPyodide();
const wheels = join(scratch, "wheels");
for (const name of readdirSync(wheels)) {
  const bytes = new Uint8Array(readFileSync(join(wheels, name)));
  python.unpackArchive(bytes, "wheel", { extractDir: "/site" });
}
python.FS.mkdir("/project");
python.mountNodeFS("/project", project);
python.runPython(readFileSync(join(project, "tests", "together", "pyodide", "program.py"), "utf8"));
exit(await python.globals.get("main")(python.toPy(tests)));
