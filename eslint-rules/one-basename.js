import { readdirSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'

/** @type {Map<string, Map<string, string[]>>} files of `server/` by their name without folder, for each root */
const known = new Map()

/** @param {string} root */
function filesByName(root) {
  const found = new Map()
  for (const entry of readdirSync(join(root, 'server'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
    found.set(entry.name, [...(found.get(entry.name) ?? []), file])
  }
  return found
}

/** Refuses a second file of the same name in `server/`, so that a name leads to one place. */
export const oneBasename = {
  meta: { type: 'problem', schema: [], docs: { description: 'refuse two files of one name in server/' } },
  create(context) {
    const files = known.get(context.cwd) ?? filesByName(context.cwd)
    known.set(context.cwd, files)
    const mine = relative(context.cwd, context.filename).split(sep).join('/')
    const others = (files.get(basename(mine)) ?? []).filter((file) => file !== mine)
    return {
      Program(node) {
        if (others.length === 0) return
        context.report({ node, message: `${others.join(', ')} has the same name: choose another.` })
      },
    }
  },
}
