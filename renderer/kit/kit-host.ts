import { type App, computed, type ComputedRef, inject, type InjectionKey } from 'vue'

/** Words of the kit's own buttons. */
interface KitWords {
  close: string
  /** Of a dialog's cross: its footer may have a button of the shorter word. */
  closeDialog: string
  cancel: string
  /** Of a search field. */
  clear?: string
}

/** What the kit needs of the page that uses it. */
export interface KitHost {
  /** Words in the language of the page. */
  words(): KitWords
  /** Asks whether unsaved input may be discarded. A page without forms in dialogs has no such question. */
  mayDiscard?(): Promise<boolean>
}

const key: InjectionKey<KitHost> = Symbol('kit')
const english: KitHost = {
  words: () => ({ close: 'Close', closeDialog: 'Close this dialog', cancel: 'Cancel', clear: 'Clear' }),
  mayDiscard: () => Promise.resolve(true),
}

export function installKit(app: App, host: KitHost): void {
  app.provide(key, host)
}

export const useKitHost = (): KitHost => inject(key, english)

/** Words of the kit's parts in the language of the page. */
export function useKitWords(): ComputedRef<KitWords> {
  const host = useKitHost()
  return computed(() => host.words())
}
