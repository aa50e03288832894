import { computed, shallowReactive, watch } from 'vue'
import { evenArrangement, type WallArrangement, type WallItem } from '../../../../shared/domain/wall-layout.ts'
import { limits } from '../../../../shared/limits.ts'
import type { WallView } from '../../../../shared/console/wall.ts'
import { sharedState, useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { type Changes, sendChanges } from '../../edits/recordChanges.ts'
import { useText } from '../../i18n/text.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { type Draft, storedDrafts, storeDrafts, useWallViews } from './wall-storage.ts'
import { itemKey, sameArrangement, sameItems } from './wall-items.ts'

/**
 * Drafts by the id of their view; empty for a new wall. They are kept while other pages are open, and in this tab
 * across reloads.
 */
const useDrafts = sharedState(() => {
  const byView = shallowReactive(new Map<string, Draft>(storedDrafts()))
  watch(byView, (now) => storeDrafts([...now]))
  return { byView }
})

/** Tiles of one view, or of a new one, with the operator's changes. */
export function useWall(viewId: () => string) {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, fail, tell } = useFeedback()
  const { tellDeleted, keptText } = useUndo()
  const { views, ready } = useWallViews()
  const { byView: drafts } = useDrafts()

  const view = computed(() => views.value.find(({ id }) => id === viewId()))
  const draft = computed(() => drafts.get(viewId()))
  const items = computed(() => draft.value?.items ?? view.value?.items ?? [])
  const arrangement = computed(() => draft.value?.arrangement ?? view.value?.arrangement ?? evenArrangement)
  const dirty = computed(
    () =>
      draft.value !== undefined &&
      (!sameItems(draft.value.items, view.value?.items ?? []) ||
        !sameArrangement(draft.value.arrangement, view.value?.arrangement ?? evenArrangement)),
  )
  /** Whether another operator has saved the view since the first change. */
  const overtaken = computed(
    () => dirty.value && view.value !== undefined && view.value.version !== draft.value?.seen?.version,
  )
  /** Whether the requested view no longer exists. */
  const missing = computed(() => viewId() !== '' && ready.value && view.value === undefined)

  const change = (next: readonly WallItem[]): void => draw({ items: next })
  const arrange = (next: WallArrangement): void => draw({ arrangement: next })

  function draw(changed: Partial<Draft>): void {
    const seen = draft.value === undefined ? view.value : draft.value.seen
    drafts.set(viewId(), { items: items.value, arrangement: arrangement.value, seen, ...changed })
  }

  function remove(item: WallItem): void {
    change(items.value.filter((one) => itemKey(one) !== itemKey(item)))
  }

  /** Adds an item, or removes it if present. */
  function toggle(item: WallItem): void {
    if (items.value.some((one) => itemKey(one) === itemKey(item))) remove(item)
    else if (items.value.length < limits.wallItems) change([...items.value, item])
  }

  function discard(id = viewId()): void {
    drafts.delete(id)
  }

  /** Saves the tiles under the name of the open view. */
  async function save(): Promise<void> {
    const { value: open } = view
    if (open === undefined) return
    const { id, name } = open
    const sent = draft.value
    const { version, ...before } = sent?.seen ?? open
    const fields = { items: before.items, arrangement: before.arrangement ?? evenArrangement }
    let saved: WallView
    try {
      saved = await sendChanges(
        { kind: 'wall', version, fields },
        { items: [...items.value], arrangement: arrangement.value },
        (changes) => client.call('wall.save', { id, ...changes }),
      )
    } catch (error) {
      // An empty message: the operator continues editing.
      if (!(error instanceof CallError) || error.message !== '') fail(error)
      return
    }
    const now = drafts.get(id)
    // Changes since then stay, based on what was saved.
    if (now === undefined || now === sent) discard(id)
    else drafts.set(id, { ...now, seen: saved })
    tell(t('wall.saved', { name }))
  }

  /**
   * Saves the tiles as a new view, or renames the open one.
   * @throws CallError
   */
  async function saveAs({ name, ...version }: Changes<{ name: string }>, rename: boolean): Promise<WallView> {
    const open = rename ? view.value : undefined
    // Another view may be open when the call returns.
    const from = viewId()
    const saved = await client.call(
      'wall.save',
      open === undefined
        ? { name, items: [...items.value], arrangement: arrangement.value }
        : { id: open.id, name, ...version },
    )
    if (open === undefined) drafts.delete(from)
    // Unsaved changes are now based on the saved version.
    else if (draft.value?.seen?.version === open.version) drafts.set(open.id, { ...draft.value, seen: saved })
    return saved
  }

  async function removeView({ id, name }: WallView): Promise<boolean> {
    const yes = await ask({
      title: t('wall.deleteTitle', { name }),
      body: `${t('wall.deleteBody')} ${keptText()}`,
      action: t('words.delete'),
    })
    const removed = yes ? await attempt(() => client.call('wall.remove', { id })) : undefined
    if (removed === undefined) return false
    tellDeleted(t('trash.wallDeleted', { name }), 'wall.restore', removed.undo)
    drafts.delete(id)
    return true
  }

  return {
    views,
    ready,
    view,
    items,
    arrangement,
    dirty,
    overtaken,
    missing,
    change,
    arrange,
    toggle,
    remove,
    discard,
    save,
    saveAs,
    removeView,
  }
}
