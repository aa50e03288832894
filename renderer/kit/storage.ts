/** Storage of a page that may be disabled: then nothing is read, and what is stored is lost with the page. */
function storageOf(area: () => Storage) {
  /** Returns the stored text; undefined: none. */
  function get(key: string): string | undefined {
    try {
      return area().getItem(key) ?? undefined
    } catch {
      // The browser blocks the storage.
      return undefined
    }
  }

  /** Stores a text; undefined removes it. @returns whether it succeeded */
  function set(key: string, text: string | undefined): boolean {
    try {
      if (text === undefined) area().removeItem(key)
      else area().setItem(key, text)
      return true
    } catch {
      // The browser blocks the storage, or it is full.
      return false
    }
  }

  /** Returns the stored JSON; undefined: none, or it is invalid. */
  function json(key: string): unknown {
    try {
      return JSON.parse(get(key) ?? 'null') ?? undefined
    } catch {
      // Somebody else has written it.
      return undefined
    }
  }

  return { get, set, json }
}

/** Storage of this browser. */
export const browserStorage = storageOf(() => localStorage)
/** Storage of this tab, which survives a reload. */
export const tabStorage = storageOf(() => sessionStorage)
