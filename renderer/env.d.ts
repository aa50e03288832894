/// <reference types="vite/client" />

import type { AppChange } from '../shared/app-contract.ts'
import type { ConsoleEvent } from '../shared/console/contract.ts'

declare global {
  /** Result of a download. `cancelled`: the operator closed the Save dialog. */
  interface DownloadEnd {
    url: string
    state: 'completed' | 'cancelled' | 'interrupted'
  }

  /** Bridge that the preload script of the desktop app exposes; absent in a browser. Plain values only cross it. */
  interface RoomdeskBridge {
    transport: 'ipc'
    call(name: string, input: unknown): Promise<unknown>
    /** Returns the function that stops listening. */
    onEvent(listener: (event: ConsoleEvent) => void): () => void
    /** Calls the listener with the result of each download. Returns a function that unregisters it. */
    onDownload(listener: (end: DownloadEnd) => void): () => void
    /** Asks the app around the page; resolves to a ConsoleResult. */
    callApp(name: string, input: unknown): Promise<unknown>
    /** Notified when a part of the app has changed. Returns the function that stops listening. */
    onAppChange(listener: (part: AppChange) => void): () => void
    /** As Node spells it: `win32`, `darwin`, `linux`. */
    platform: string
  }

  interface Window {
    roomdesk?: RoomdeskBridge
  }
}
