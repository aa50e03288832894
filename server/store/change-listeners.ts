import type { Change, ChangeListener, CollectionName } from './store.ts'

interface Heard {
  listener: ChangeListener
  of: readonly CollectionName[] | undefined
}

/** Listeners of a store's changes, in the order in which they came. Each change passes all of them: those of other collections are not called. */
export class ChangeListeners {
  readonly #heard = new Set<Heard>()

  /** See Store.onChange. */
  add(listener: ChangeListener, of: readonly CollectionName[] | undefined): () => void {
    const heard = { listener, of }
    this.#heard.add(heard)
    return () => void this.#heard.delete(heard)
  }

  /** Calls those that these changes concern. @param call runs a listener, and takes what it throws */
  notify(changes: readonly Change[], before: readonly Change['value'][], call: (run: () => void) => void): void {
    for (const { listener, of } of this.#heard)
      if (of === undefined || changes.some(({ collection }) => of.includes(collection)))
        call(() => listener(changes, before))
  }
}
