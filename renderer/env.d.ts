/// <reference types="vite/client" />

import type { AppChange } from '../shared/app-contract.ts'
import type { ConsoleEvent } from '../shared/console/contract.ts'

declare global {
  /** A file of the page, and what became of it. Cancelled: the operator closed the dialog that asks where to. */
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
    /** Told what became of each file that the page hands to the operator. Returns the function that stops listening. */
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
