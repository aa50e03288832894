import { computed, ref, shallowRef } from 'vue'
import { GroupLayout } from '../../kit/components/rowGroups.ts'
import { useText } from '../i18n/text.ts'

/** Maximum number of rows of a list whose groups are initially open. */
const maxOpenRows = 100

/** A tag with its number of rows. */
export interface CountedGroup {
  /** Key of the tag; empty: rows without a tag. */
  key: string
  title: string
  count: number
}

/** Groups of a list, and whether each is open. Initially they are open in a short list, closed in a long one. */
export function useOpenGroups() {
  const { t } = useText()
  const counted = shallowRef<readonly CountedGroup[]>([])
  const beginOpen = ref(false)
  /** Whether the list was short after the last new search. */
  let wasShort = false
  /** Groups that differ from their initial state. */
  const flipped = shallowRef<ReadonlySet<string>>(new Set())
  const isOpen = (key: string): boolean => flipped.value.has(key) !== beginOpen.value
  const layout = computed(
    () =>
      new GroupLayout(
        counted.value.map(({ key, title, count }) => ({
          key,
          title: key === '' ? t('tags.none') : title,
          count,
          isOpen: isOpen(key),
        })),
      ),
  )

  /** Sets the groups. @param rows number of distinct rows, by which a new search starts open or closed */
  function set(groups: readonly CountedGroup[], rows: number, isNew: boolean): void {
    counted.value = groups
    const isShort = rows <= maxOpenRows
    if (!isNew || isShort === wasShort) return
    wasShort = isShort
    beginOpen.value = isShort
    flipped.value = new Set()
  }

  function toggle(key: string): void {
    const next = new Set(flipped.value)
    if (!next.delete(key)) next.add(key)
    flipped.value = next
  }

  function toggleAll(open: boolean): void {
    beginOpen.value = open
    flipped.value = new Set()
  }

  return { layout, set, toggle, toggleAll }
}
