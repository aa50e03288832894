import { reactive } from 'vue'
import { sharedState } from '../composables/useConsole.ts'

/** Tags of a record during an edit. */
export interface TagDraft {
  before: readonly string[]
  tags: string[]
  /** Version of the record at the start of the edit. */
  version: string
}

/** Unsaved edits by kind and key of the record; kept when the panel closes. */
export const useTagDrafts = sharedState(() => ({ drafts: reactive(new Map<string, TagDraft>()) }))

/** Returns whether a draft differs from the tags that its record had. */
export const isDirty = ({ before, tags }: Pick<TagDraft, 'before' | 'tags'>): boolean =>
  [...before].sort().join() !== [...tags].sort().join()
