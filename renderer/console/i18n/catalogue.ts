import type { Catalogue } from './text.ts'

/**
 * Merges the files of a language into its catalogue. The file name is the first part of the keys, except for
 * `common.json`. `npm run texts` checks that each language has the keys of English.
 */
export function catalogueOf(files: Readonly<Record<string, Record<string, unknown>>>): Catalogue {
  const parts = Object.entries(files).map(([path, texts]) => {
    const name = path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
    return name === 'common' ? texts : { [name]: texts }
  })
  return Object.assign({}, ...parts) as Catalogue
}
