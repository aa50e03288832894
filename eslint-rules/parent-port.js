import { readFileSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'

const imports = /^(?:import|export)\b[^'"]*?['"](\.[^'"]+)['"]/gm

/** Files that a file imports, as absolute paths; none where there is no such file. @param {string} file */
function importsOf(file) {
  try {
    return [...readFileSync(file, 'utf8').matchAll(imports)].map(([, source]) => resolve(dirname(file), source))
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return []
    throw error
  }
}

/** Finds a file of a subfolder that a file of `folder` imports, itself or by files beside it. @param {string} file @param {string} folder */
function reachedBelow(file, folder) {
  const seen = new Set([file])
  for (const each of seen) {
    for (const imported of importsOf(each)) {
      if (dirname(imported) === folder) seen.add(imported)
      else if (imported.startsWith(folder + sep)) return imported
    }
  }
  return undefined
}

/**
 * Lets a file import from a parent folder its port only: files which import nothing from that folder's subfolders, themselves or by files beside them.
 * Otherwise parent and child could only be read together.
 */
export const parentPort = {
  meta: { type: 'problem', schema: [], docs: { description: "let a file import a parent folder's port only" } },
  create(context) {
    const mine = dirname(context.filename)
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return
      const path = resolve(mine, source.value)
      const parent = dirname(path)
      if (parent === mine || !mine.startsWith(parent + sep)) return
      const below = reachedBelow(path, parent)
      if (below === undefined) return
      const name = (file) => relative(context.cwd, file).split(sep).join('/')
      const message = `${name(path)} is no port: it imports ${name(below)}. A subfolder imports only files of its parent that import no subfolder.`
      context.report({ node: source, message })
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check }
  },
}
