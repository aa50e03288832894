import { computed, shallowReactive } from 'vue'
import { evenArrangement, type WallArrangement } from '../../../../shared/console/wall-layout.ts'
import { limits } from '../../../../shared/limits.ts'
import type { WallItem, WallView } from '../../../../shared/console/wall.ts'
import { sharedState, useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useUndo } from '../../composables/useUndo.ts'
import { useText } from '../../i18n/text.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useWallViews } from './useWallViews.ts'
import { itemKey, sameArrangement, sameItems } from './wall-items.ts'

/** Changed tiles that are not saved. */
interface Draft {
  items: readonly WallItem[]
  arrangement: WallArrangement
  /** Revision of the view that they are based on; 0: none. */
  revision: number
}

/** Kept while the operator visits other pages. Without a view the id is empty. */
const useDrafts = sharedState(() => ({ byView: shallowReactive(new Map<string, Draft>()) }))

/** Tiles of one view, or of a new one, with the operator's changes. */
export function useWall(viewId: () => string) {
  const client = useConsole()
  const { t } = useText()
  const { ask, fail, tell } = useFeedback()
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
  /** Another operator saved the view since the first change. */
  const overtaken = computed(
    () => dirty.value && view.value !== undefined && view.value.revision !== draft.value?.revision,
  )
  /** The requested view no longer exists. */
  const missing = computed(() => viewId() !== '' && ready.value !== undefined && view.value === undefined)
  const full = computed(() => items.value.length >= limits.wallItems)

  function change(next: readonly WallItem[]): void {
    draw({ items: next })
  }

  function arrange(next: WallArrangement): void {
    draw({ arrangement: next })
  }

  function draw(changed: Partial<Draft>): void {
    const revision = draft.value?.revision ?? view.value?.revision ?? 0
    drafts.set(viewId(), { items: items.value, arrangement: arrangement.value, revision, ...changed })
  }

  function remove(item: WallItem): void {
    change(items.value.filter((one) => itemKey(one) !== itemKey(item)))
  }

  /** Adds an item, or removes it if present. */
  function toggle(item: WallItem): void {
    if (items.value.some((one) => itemKey(one) === itemKey(item))) remove(item)
    else if (!full.value) change([...items.value, item])
  }

  function discard(): void {
    drafts.delete(viewId())
  }

  /** Saves the tiles under the name of the open view. */
  async function save(): Promise<void> {
    const { value: open } = view
    if (open === undefined) return
    const { id, name } = open
    const input = { id, name, items: [...items.value], arrangement: arrangement.value }
    try {
      await client.call('wall.save', { ...input, revision: draft.value?.revision ?? open.revision })
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'conflict') return fail(error)
      const yes = await ask({
        title: t('wall.overtakenTitle', { name }),
        body: t('wall.overtakenBody'),
        action: t('wall.saveAnyway'),
      })
      if (!yes) return
      try {
        await client.call('wall.save', input)
      } catch (reason) {
        return fail(reason)
      }
    }
    saved(id)
    tell(t('wall.saved', { name }))
  }

  /**
   * Saves the tiles as a new view, or renames the open one.
   * @throws CallError
   */
  async function saveAs(name: string, rename: boolean): Promise<WallView> {
    const open = rename ? view.value : undefined
    // Another view may be open once it is saved.
    const from = viewId()
    const saved = await client.call('wall.save', {
      ...(open === undefined ? {} : { id: open.id, revision: open.revision }),
      name,
      // Renaming saves nothing else.
      items: [...(open?.items ?? items.value)],
      ...(open === undefined ? { arrangement: arrangement.value } : {}),
    })
    if (open === undefined) drafts.delete(from)
    // Unsaved changes are based on the same tiles.
    else if (draft.value?.revision === open.revision) drafts.set(open.id, { ...draft.value, revision: saved.revision })
    return saved
  }

  async function removeView({ id, name }: WallView): Promise<boolean> {
    const yes = await ask({
      title: t('wall.deleteTitle', { name }),
      body: `${t('wall.deleteBody')} ${keptText()}`,
      action: t('words.delete'),
    })
    if (!yes) return false
    try {
      const { undo } = await client.call('wall.remove', { id })
      tellDeleted(t('trash.wallDeleted', { name }), 'wall.restore', undo)
    } catch (error) {
      fail(error)
      return false
    }
    drafts.delete(id)
    return true
  }

  function saved(id: string): void {
    drafts.delete(id)
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
    full,
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
