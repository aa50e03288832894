import type { ConfirmedView, Leadership, Store } from './store.ts'

/** The view that a leadership hands out. For implementations of `Leadership` only. */
export function viewOf(store: Pick<Store, 'get' | 'all'>): ConfirmedView {
  // The mark exists in types only: it says who made the view.
  return store as ConfirmedView
}

const never = new AbortController().signal

/** Returns the leadership of a site that no other controller can lead: a site in files, or a tool that has the database to itself. */
export function soleLeadership(store: Pick<Store, 'get' | 'all'>): Leadership {
  const view = viewOf(store)
  return { confirmed: () => view, isHeld: true, onChange: () => () => {}, signal: () => never }
}
