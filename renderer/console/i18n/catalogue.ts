import type { Catalogue } from './text.ts'

/**
 * Joins the files of a language to its catalogue: a file's name is the first part of its keys, but for `common.json`.
 * `npm run texts` checks that a language has the keys of English.
 */
export function catalogueOf(files: Readonly<Record<string, Record<string, unknown>>>): Catalogue {
  const parts = Object.entries(files).map(([path, texts]) => {
    const name = path.slice(path.lastIndexOf('/') + 1, -'.json'.length)
    return name === 'common' ? texts : { [name]: texts }
  })
  return Object.assign({}, ...parts) as Catalogue
}
