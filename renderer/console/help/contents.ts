import type { HelpPage, PageOutline } from './page-content.ts'

/** Groups of pages, as the folders of the docs. */
export const helpGroups = ['operate', 'integrate'] as const
type HelpGroup = (typeof helpGroups)[number]

/** A page in the list of contents. */
export interface HelpEntry extends PageOutline {
  group: HelpGroup
  /** Path in the console. */
  path: string
}

/** Pages in the order of reading; others follow by name. */
const order = [
  'install',
  'automation',
  'desktop',
  'readiness',
  'cameras',
  'wall',
  'schedules',
  'tags',
  'recording',
  'data',
  'security',
  'high-availability',
  'scale',
  'packaging',
  'clients',
  'moving',
]

const outlines = import.meta.glob<PageOutline>('../../../docs/{operate,integrate}/*.md', {
  query: '?headings',
  import: 'default',
  eager: true,
})
const pages = import.meta.glob<HelpPage>('../../../docs/{operate,integrate}/*.md', { import: 'default' })

const nameOf = (file: string): string => /docs\/(.+)\.md$/.exec(file)?.[1] ?? ''
const place = (name: string): number => (order.indexOf(name.split('/')[1] ?? '') + 1 || order.length + 1) - 1

/** All pages in order. The build writes the list from the docs. */
export const helpEntries: readonly HelpEntry[] = helpGroups.flatMap((group) =>
  Object.entries(outlines)
    .map(([file, outline]) => ({ ...outline, group, name: nameOf(file) }))
    .filter(({ name }) => name.startsWith(`${group}/`))
    .sort((one, other) => place(one.name) - place(other.name) || one.name.localeCompare(other.name))
    .map(({ name, ...entry }) => ({ ...entry, path: `/help/${name}` })),
)

/** Loads a page by its path in the console; undefined: there is none. */
export function loadHelpPage(path: string): Promise<HelpPage> | undefined {
  const file = Object.keys(pages).find((one) => `/help/${nameOf(one)}` === path)
  return file === undefined ? undefined : pages[file]?.()
}
