import { dirname, relative, resolve, sep } from 'node:path'

const maxFromOneFolder = 10

/** Names the folder that a file belongs to: the first two segments of its path. */
const folderOf = (path) => path.slice(0, 2).join('/')

/** Limits what a file takes from the inside of one other folder: more means that one of the two is cut in the wrong place. */
export const fewImports = {
  meta: { type: 'problem', schema: [], docs: { description: 'limit imports from the inside of one other folder' } },
  create(context) {
    const segments = (path) => relative(context.cwd, path).split(sep)
    const mine = folderOf(segments(context.filename))
    const files = new Map()
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return
      const path = resolve(dirname(context.filename), source.value)
      const folder = folderOf(segments(path))
      if (folder === mine || folder.startsWith('shared/')) return
      const imported = files.get(folder) ?? new Set()
      files.set(folder, imported.add(path))
      if (imported.size !== maxFromOneFolder + 1) return
      const message = `More than ${maxFromOneFolder} files imported from ${folder}/: split this file, or move what it composes there.`
      context.report({ node: source, message })
    }
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check }
  },
}
