import type { ConfirmedView, Leadership, Store } from './store.ts'

/** Returns a store as the view of a confirmed leader. For implementations of `Leadership` only. */
export function confirmedViewOf(store: Pick<Store, 'get' | 'all'>): ConfirmedView {
  // The brand exists in types only: it shows that a Leadership made the view.
  return store as ConfirmedView
}

const never = new AbortController().signal

/**
 * Returns the leadership of a site that no other controller can lead: a site in files, or a tool with exclusive access
 * to the database.
 */
export function soleLeadership(store: Pick<Store, 'get' | 'all'>): Leadership {
  const view = confirmedViewOf(store)
  return { confirmed: () => view, isHeld: true, onChange: () => () => {}, signal: () => never }
}
