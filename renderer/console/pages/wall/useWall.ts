import { computed, shallowReactive } from 'vue'
import { limits } from '../../../../shared/limits.ts'
import type { WallItem, WallView } from '../../../../shared/console/wall.ts'
import { sharedState, useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useWallViews } from './useWallViews.ts'
import { itemKey, sameItems } from './wall-items.ts'

/** Changed tiles that are not saved. */
interface Draft {
  items: readonly WallItem[]
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
  const { views, ready } = useWallViews()
  const { byView: drafts } = useDrafts()

  const view = computed(() => views.value.find(({ id }) => id === viewId()))
  const draft = computed(() => drafts.get(viewId()))
  const items = computed(() => draft.value?.items ?? view.value?.items ?? [])
  const dirty = computed(() => draft.value !== undefined && !sameItems(draft.value.items, view.value?.items ?? []))
  /** Another operator saved the view since the first change. */
  const overtaken = computed(
    () => dirty.value && view.value !== undefined && view.value.revision !== draft.value?.revision,
  )
  /** The requested view no longer exists. */
  const missing = computed(() => viewId() !== '' && ready.value !== undefined && view.value === undefined)
  const full = computed(() => items.value.length >= limits.wallTiles)

  function change(next: readonly WallItem[]): void {
    drafts.set(viewId(), { items: next, revision: draft.value?.revision ?? view.value?.revision ?? 0 })
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
    const input = { id, name, items: [...items.value] }
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
    const saved = await client.call('wall.save', {
      ...(open === undefined ? {} : { id: open.id, revision: open.revision }),
      name,
      // Renaming saves nothing else.
      items: [...(open?.items ?? items.value)],
    })
    if (open === undefined) drafts.delete(viewId())
    // Unsaved changes are based on the same tiles.
    else if (draft.value?.revision === open.revision) drafts.set(open.id, { ...draft.value, revision: saved.revision })
    return saved
  }

  async function removeView({ id, name }: WallView): Promise<boolean> {
    const yes = await ask({
      title: t('wall.deleteTitle', { name }),
      body: t('wall.deleteBody'),
      action: t('words.delete'),
    })
    if (!yes) return false
    try {
      await client.call('wall.remove', { id })
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
    dirty,
    overtaken,
    missing,
    full,
    change,
    toggle,
    remove,
    discard,
    save,
    saveAs,
    removeView,
  }
}
