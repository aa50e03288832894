import { contextBridge, ipcRenderer } from 'electron'
import type { ConsoleEvent } from '../shared/console/contract.ts'
import { channels } from './channels.ts'
import type { DownloadEnd } from './downloads.ts'

/** Runs sandboxed in a context of its own; the page gets only this frozen object of Electron. */

const listeners = new Set<(event: ConsoleEvent) => void>()

const downloadListeners = new Set<(end: DownloadEnd) => void>()
ipcRenderer.on(channels.download, (_event, end: DownloadEnd) => {
  for (const listener of [...downloadListeners]) listener(end)
})

// The main process pushes a typed ConsoleEvent; Electron transports it.
ipcRenderer.on(channels.event, (_event, event: ConsoleEvent) => {
  for (const listener of [...listeners]) listener(event)
})

contextBridge.exposeInMainWorld(
  'roomdesk',
  Object.freeze({
    transport: 'ipc',
    /** Resolves to a ConsoleResult. */
    call: (name: unknown, input: unknown): Promise<unknown> => ipcRenderer.invoke(channels.call, name, input),
    /** Returns a function that stops listening. */
    onEvent: (listener: (event: ConsoleEvent) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** Returns a function that stops listening. */
    onDownload: (listener: (end: DownloadEnd) => void): (() => void) => {
      downloadListeners.add(listener)
      return () => void downloadListeners.delete(listener)
    },
    platform: process.platform,
  }),
)
