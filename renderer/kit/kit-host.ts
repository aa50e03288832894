import { computed, type ComputedRef, inject, type InjectionKey } from 'vue'

/** Words of the kit's own buttons. */
interface KitWords {
  close: string
  /** Label of the close button in a dialog's header. It differs from `close`, which the footer may use. */
  closeDialog: string
  cancel: string
  /** Label of the button that clears a search field. */
  clear?: string
}

/** Functions that a page provides to the kit. */
export interface KitHost {
  /** Words in the language of the page. */
  words(): KitWords
  /** Asks whether unsaved input may be discarded. Omitted by a page without forms in dialogs. */
  mayDiscard?(): Promise<boolean>
}

export const kitHostKey: InjectionKey<KitHost> = Symbol('kit')
const english: KitHost = {
  words: () => ({ close: 'Close', closeDialog: 'Close this dialog', cancel: 'Cancel', clear: 'Clear' }),
  mayDiscard: () => Promise.resolve(true),
}

export const useKitHost = (): KitHost => inject(kitHostKey, english)

/** Words of the kit's parts in the language of the page. */
export function useKitWords(): ComputedRef<KitWords> {
  const host = useKitHost()
  return computed(() => host.words())
}
