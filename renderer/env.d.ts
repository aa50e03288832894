/// <reference types="vite/client" />

import type { ConsoleEvent } from '../shared/console/contract.ts'

declare global {
  /** What the preload script of the desktop app exposes; absent in a browser. Plain values only cross this bridge. */
  interface RoomdeskBridge {
    transport: 'ipc'
    call(name: string, input: unknown): Promise<unknown>
    /** Returns the function that stops listening. */
    onEvent(listener: (event: ConsoleEvent) => void): () => void
  }

  interface Window {
    roomdesk?: RoomdeskBridge
  }
}
