import type { Block, HelpPage } from './page-content.ts'

/** Changes of one version. An empty `version`: changes that are not released yet. */
export interface VersionChanges {
  version: string
  /** Day of the release as `2026-11-23`; empty: unknown. */
  date: string
  blocks: Block[]
}

const changelog = import.meta.glob<HelpPage>('../../../CHANGELOG.md', { import: 'default' })

/** Loads the changes of all versions, newest first. */
export async function loadChanges(): Promise<VersionChanges[]> {
  const [load] = Object.values(changelog)
  return load === undefined ? [] : changesOf((await load()).blocks)
}

/** Splits a changelog at the headings of its versions. Versions without changes are omitted. */
function changesOf(blocks: readonly Block[]): VersionChanges[] {
  const versions: VersionChanges[] = []
  for (const block of blocks) {
    if (block.kind === 'heading' && block.depth === 2) {
      const [, version = '', date = ''] = /^\[(\d[^\]]*)\](?: - (\S+))?/.exec(block.text) ?? []
      versions.push({ version, date, blocks: [] })
    } else versions.at(-1)?.blocks.push(block)
  }
  return versions.filter((one) => one.blocks.length > 0)
}
