import { type Language, languages } from '../../../shared/languages.ts'
import type { HelpPage, PageOutline } from './page-content.ts'

/** Groups of pages: the folders of the docs. */
export const helpGroups = ['operate', 'use', 'integrate'] as const
type HelpGroup = (typeof helpGroups)[number]

/** A page in the table of contents. */
export interface HelpEntry extends PageOutline {
  group: HelpGroup
  /** Path in the console. */
  path: string
  /** Language of title and headings: English if the page has no translation. */
  language: Language
}

/** Pages of each group in reading order; further pages follow by name. */
const order: Readonly<Record<HelpGroup, readonly string[]>> = {
  operate: [
    'install',
    'network',
    'automation',
    'desktop',
    'readiness',
    'cameras',
    'wall',
    'schedules',
    'tags',
    'recording',
    'troubleshooting',
    'data',
    'upgrading',
    'security',
    'high-availability',
    'scale',
    'metrics',
  ],
  use: ['meetings', 'glossary'],
  integrate: ['clients', 'languages', 'api', 'recording', 'lab', 'scenarios', 'moving'],
}

const outlines: Readonly<Record<string, PageOutline>> = import.meta.glob<PageOutline>(
  ['../../../docs/{operate,use,integrate}/**/*.md', '../../../docs/glossary.md'],
  { query: '?headings', import: 'default', eager: true },
)
const pages = import.meta.glob<HelpPage>(
  ['../../../docs/{operate,use,integrate}/**/*.md', '../../../docs/glossary.md'],
  { import: 'default' },
)

/** A page of the help in one language. The glossary is in no group's folder, because it is for all readers. */
interface PageFile {
  group: HelpGroup
  name: string
  language: Language
}

function pageFile(file: string): PageFile {
  const [, folder, id, name = ''] = /docs\/(?:(\w+)\/)?(?:(\w+)\/)?([\w-]+)\.md$/.exec(file) ?? []
  return {
    group: helpGroups.find((group) => group === folder) ?? 'use',
    name,
    language: languages.find((language) => language.id === id)?.id ?? 'en',
  }
}

/** Files of the docs by path in the console and language. */
const files = new Map(
  Object.keys(outlines).map((file) => {
    const { group, name, language } = pageFile(file)
    return [`/help/${group}/${name} ${language}`, file]
  }),
)

/** Returns the file of a page and its language; undefined: there is no such page. */
function fileOf(path: string, wanted: Language): { file: string; language: Language } | undefined {
  for (const language of new Set<Language>([wanted, 'en'])) {
    const file = files.get(`${path} ${language}`)
    if (file !== undefined) return { file, language }
  }
  return undefined
}

const listed = new Map<Language, readonly HelpEntry[]>()

/**
 * Lists all pages in order, each in the given language if it has a translation. The build creates the list from the
 * docs.
 */
export function helpEntries(wanted: Language): readonly HelpEntry[] {
  const known = listed.get(wanted)
  if (known !== undefined) return known
  const english = Object.keys(outlines)
    .map(pageFile)
    .filter(({ language }) => language === 'en')
  const entries = helpGroups.flatMap((group) => {
    const place = (name: string): number => (order[group].indexOf(name) + 1 || order[group].length + 1) - 1
    return english
      .filter((page) => page.group === group)
      .sort((one, other) => place(one.name) - place(other.name) || one.name.localeCompare(other.name))
      .flatMap(({ name }): HelpEntry[] => {
        const path = `/help/${group}/${name}`
        const { file = '', language = 'en' } = fileOf(path, wanted) ?? {}
        const outline = outlines[file]
        return outline === undefined ? [] : [{ ...outline, group, path, language }]
      })
  })
  listed.set(wanted, entries)
  return entries
}

/** Loads a page by its path in the console, in the given language or in English; undefined: there is no such page. */
export function loadHelpPage(
  path: string,
  wanted: Language,
): Promise<{ page: HelpPage; language: Language }> | undefined {
  const { file = '', language = 'en' } = fileOf(path, wanted) ?? {}
  return pages[file]?.().then((page) => ({ page, language }))
}
