/**
 * The package that a module belongs to, as a path from the project's root: `node_modules/a/node_modules/@b/c`.
 * @param id of the module: a path, or what bundlers make of one
 */
export function packageFolder(id: string): string | undefined {
  const path = id.replaceAll('\\', '/')
  const start = path.indexOf('/node_modules/')
  if (start === -1) return undefined
  // Greedy: the innermost package. A name that begins with a dot is a cache of Vite's.
  return /^.*node_modules\/(?:@[^/?]+\/)?[^@/?.][^/?]*/.exec(path.slice(start + 1))?.[0]
}
