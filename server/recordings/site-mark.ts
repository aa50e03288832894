import type { Store } from '../store/store.ts'

/** Name of the file or object that assigns a folder or a bucket to one site. */
export const markName = 'roomdesk-recordings.json'
const markText = 'recordings of this site'

/** Fields of a mark, sealed with the key of the site. */
export interface SiteMark {
  site?: unknown
  index?: unknown
}

/** Returns the mark of this site. @param at place for which the mark is sealed */
export function siteMark(at: readonly string[], store: Pick<Store, 'seal'>): { site: string } {
  return { site: store.seal(markText, [...at]) }
}

/** Whether a mark was sealed by this site, for this place. */
export function isOwnMark({ site }: SiteMark, at: readonly string[], store: Pick<Store, 'unseal'>): boolean {
  return unsealed(site, at, store) === markText
}

/** Parses a mark; a damaged mark has no fields. */
export function parsedMark(text: string): SiteMark {
  try {
    const mark: unknown = JSON.parse(text)
    return typeof mark === 'object' && mark !== null ? mark : {}
  } catch {
    return {}
  }
}

/** Returns the sealed text; undefined if it is missing or belongs to another site or place. */
export function unsealed(sealed: unknown, at: readonly string[], store: Pick<Store, 'unseal'>): string | undefined {
  try {
    return typeof sealed === 'string' ? store.unseal(sealed, [...at]) : undefined
  } catch {
    // The text was sealed by another site, or for another place.
    return undefined
  }
}
