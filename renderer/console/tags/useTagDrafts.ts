import { reactive } from 'vue'
import { sharedState } from '../composables/useConsole.ts'

/** Tags of a record as an operator edits them. */
export interface TagDraft {
  before: readonly string[]
  tags: string[]
  /** Version of the record when the edit began. */
  version: string
}

/** Edits that are not saved yet, by kind and key of the record: they outlive a closed panel. */
export const useTagDrafts = sharedState(() => ({ drafts: reactive(new Map<string, TagDraft>()) }))

/** Returns whether a draft differs from the tags that its record had. */
export const isDirty = ({ before, tags }: Pick<TagDraft, 'before' | 'tags'>): boolean =>
  [...before].sort().join() !== [...tags].sort().join()
