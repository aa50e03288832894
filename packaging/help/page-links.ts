import { posix } from 'node:path'

/** Path of the console that shows a file of the project, e.g. `/help/operate/install`; undefined: none does. */
export function consolePath(file: string): string | undefined {
  if (file === 'CHANGELOG.md') return '/help/new'
  const [, page] = /^docs\/((?:operate|integrate)\/[\w-]+)\.md$/.exec(file) ?? []
  return page === undefined ? undefined : `/help/${page}`
}

/** File that a relative link of a file leads to, and the anchor in it; undefined: the link is absolute. */
export function linkedFile(href: string, from: string): { file: string; anchor: string } | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return undefined
  const [path = '', anchor = ''] = href.split('#')
  return { file: path === '' ? from : posix.join(posix.dirname(from), path), anchor }
}

/** Address of a link in the console: a path of its own or an absolute URL; undefined: the console does not have the target. */
export function consoleLink(href: string, from: string): string | undefined {
  const linked = linkedFile(href, from)
  if (linked === undefined) return /^https?:/i.test(href) ? href : undefined
  const path = consolePath(linked.file)
  if (path === undefined) return undefined
  return linked.anchor === '' ? path : `${path}#${linked.anchor}`
}
