import { posix } from 'node:path'
import { languages } from '../../shared/languages.ts'
import { anchorsOf } from './anchors.ts'

/** Page that is read. */
export interface PageSource {
  /** Path from the root of the project, with `/`: links start there. */
  file: string
  /** Returns the text of a file of the project; undefined: there is none. */
  textOf: (file: string) => string | undefined
}

const translated = new RegExp(`^(docs/(?:\\w+/)?)(${languages.map(({ id }) => id).join('|')})/([\\w-]+\\.md)$`)

/** Returns the English page that a file translates, e.g. `docs/operate/wall.md` for `docs/operate/de/wall.md`; otherwise undefined. */
export function originalOf(file: string): string | undefined {
  const [whole, folder = '', , name = ''] = translated.exec(file) ?? []
  return whole === undefined ? undefined : `${folder}${name}`
}

/**
 * Returns the ids of all headings of a page in the console, in order. A translation has the ids of the English page, so
 * that an address shows the same place in every language.
 */
export function headingIds(text: string, { file, textOf }: PageSource): string[] {
  const own = anchorsOf(text)
  const original = originalOf(file)
  const english = original === undefined ? undefined : textOf(original)
  if (english === undefined) return own
  const ids = anchorsOf(english)
  return own.map((anchor, index) => ids[index] ?? anchor)
}

/** Path of the console that shows a file of the project, e.g. `/help/operate/install`; undefined: none does. */
function consolePath(file: string): string | undefined {
  if (file === 'CHANGELOG.md') return '/help/new'
  const english = originalOf(file) ?? file
  if (english === 'docs/glossary.md') return '/help/use/glossary'
  const [, page] = /^docs\/((?:operate|use|integrate)\/[\w-]+)\.md$/.exec(english) ?? []
  return page === undefined ? undefined : `/help/${page}`
}

/** File that a relative link of a file leads to, and the anchor in it; undefined: the link is absolute. */
export function linkedFile(href: string, from: string): { file: string; anchor: string } | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return undefined
  const [path = '', anchor = ''] = href.split('#')
  return { file: path === '' ? from : posix.join(posix.dirname(from), path), anchor: decodeURIComponent(anchor) }
}

/** Address of a link in the console: a path of its own or an absolute URL; undefined: the console does not have the target. */
export function consoleLink(href: string, page: PageSource): string | undefined {
  const linked = linkedFile(href, page.file)
  if (linked === undefined) return /^https?:/i.test(href) ? href : undefined
  const path = consolePath(linked.file)
  if (path === undefined) return undefined
  return linked.anchor === '' ? path : `${path}#${englishAnchor(linked, page)}`
}

/** Returns the anchor of the same heading on the English page. */
function englishAnchor({ file, anchor }: { file: string; anchor: string }, { textOf }: PageSource): string {
  const text = originalOf(file) === undefined ? undefined : textOf(file)
  if (text === undefined) return anchor
  return headingIds(text, { file, textOf })[anchorsOf(text).indexOf(anchor)] ?? anchor
}
