import type { Change, ChangeListener, CollectionName } from './store.ts'

interface Registered {
  listener: ChangeListener
  of: readonly CollectionName[] | undefined
}

/**
 * Listeners for changes of a store, called in the order of their registration. A listener may be limited to some
 * collections.
 */
export class ChangeListeners {
  readonly #registered = new Set<Registered>()

  /** See Store.onChange. */
  add(listener: ChangeListener, of: readonly CollectionName[] | undefined): () => void {
    const registered = { listener, of }
    this.#registered.add(registered)
    return () => void this.#registered.delete(registered)
  }

  /** Calls the listeners of the changed collections. @param call runs a listener and handles its errors */
  notify(changes: readonly Change[], before: readonly Change['value'][], call: (run: () => void) => void): void {
    for (const { listener, of } of this.#registered)
      if (of === undefined || changes.some(({ collection }) => of.includes(collection)))
        call(() => listener(changes, before))
  }
}
