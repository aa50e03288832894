import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder of all texts: a folder of JSON files for each language. */
const folder = join(import.meta.dirname, '../../texts')

/** Texts of a language by their path in dots, for each file by its path without the ending. */
export function textsIn(language: string): Map<string, Map<string, string>> {
  const files = readdirSync(join(folder, language), { recursive: true, encoding: 'utf8' })
  const names = files.filter((file) => file.endsWith('.json')).sort()
  return new Map(
    names.map((name) => {
      const content: unknown = JSON.parse(readFileSync(join(folder, language, name), 'utf8'))
      return [name.slice(0, -'.json'.length).replaceAll('\\', '/'), new Map(flat(content))]
    }),
  )
}

function flat(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${path} is neither a text nor a group of texts.`)
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    flat(each, path === '' ? key : `${path}.${key}`),
  )
}
