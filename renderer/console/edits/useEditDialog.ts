import { ref, shallowRef } from 'vue'

/** State of a dialog that edits an object, or creates one: then `edited` is null. */
export function useEditDialog<T extends object>() {
  const open = ref(false)
  const edited = shallowRef<T | null>(null)

  function edit(one: T | null): void {
    edited.value = one
    open.value = true
  }

  return { open, edited, edit }
}
