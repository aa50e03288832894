import { computed, ref, shallowRef } from 'vue'
import { GroupLayout } from '../../kit/components/rowGroups.ts'
import { useText } from '../i18n/text.ts'

/** Rows up to which all groups begin open. */
const maxOpenRows = 100

/** Counted rows of a tag. */
export interface CountedGroup {
  /** Key of the tag; empty: rows without a tag. */
  key: string
  title: string
  count: number
}

/** Groups of a list, of which some are open. In a short list they begin open, in a long one closed. */
export function useOpenGroups() {
  const { t } = useText()
  const counted = shallowRef<readonly CountedGroup[]>([])
  const beginOpen = ref(false)
  /** The list was short when it was last searched. */
  let wasShort = false
  /** Groups that are not as they began. */
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

  /** Shows other groups; `rows` is the number of different rows, by which a new search begins open or closed. */
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
