import type { Rolldown } from 'vite'

type Group = Rolldown.CodeSplittingGroup
type Context = Parameters<Extract<Group['name'], (...parameters: never[]) => unknown>>[1]

/**
 * Groups the modules of the console into few files: a page that loads a hundred small ones is shown a quarter of a second later. What every page needs, what the
 * first page shares with others, packages by the pages that use them, and what is left of our own.
 * Each group holds all that its modules import, or a group before it does: chunks that import each other in a circle would run before what they use.
 * @param firstPage path of the page that is shown after the sign-in
 */
export function consoleChunks(firstPage: string): Group[] {
  let ofFirstPage: ReadonlySet<string> | undefined
  return [
    { name: 'start', tags: ['$initial'], priority: 3 },
    {
      name: (id, context) => ((ofFirstPage ??= importedBy(firstPage, context)).has(id) ? 'first-page' : null),
      minShareCount: 2,
      priority: 2,
    },
    { name: 'packages', test: /node_modules/, minShareCount: 2, entriesAware: true, priority: 1 },
    { name: 'pages', minShareCount: 2 },
  ]
}

/** Finds what a module imports, and what that imports; without packages, whose index imports all of them. */
function importedBy(id: string, context: Context): Set<string> {
  const found = new Set([id])
  for (const each of found) {
    for (const imported of context.getModuleInfo(each)?.importedIds ?? []) {
      if (!imported.includes('node_modules')) found.add(imported)
    }
  }
  return found
}
