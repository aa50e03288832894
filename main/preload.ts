import { contextBridge, ipcRenderer } from 'electron'
import type { AppChange } from '../shared/app-contract.ts'
import type { ConsoleEvent } from '../shared/console/contract.ts'
import { channels } from './channels.ts'
import type { DownloadEnd } from './downloads.ts'

/** Preload script: runs sandboxed in its own context. The page can access only the frozen object `roomdesk`. */

const listeners = new Set<(event: ConsoleEvent) => void>()

const downloadListeners = new Set<(end: DownloadEnd) => void>()
ipcRenderer.on(channels.download, (_event, end: DownloadEnd) => {
  for (const listener of [...downloadListeners]) listener(end)
})

// The main process sends a typed ConsoleEvent; Electron transports it.
ipcRenderer.on(channels.event, (_event, event: ConsoleEvent) => {
  for (const listener of [...listeners]) listener(event)
})

const changeListeners = new Set<(part: AppChange) => void>()
ipcRenderer.on(channels.appChange, (_event, part: AppChange) => {
  for (const listener of [...changeListeners]) listener(part)
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
    /** Calls a procedure of the app itself. Resolves to a ConsoleResult. */
    callApp: (name: unknown, input: unknown): Promise<unknown> => ipcRenderer.invoke(channels.app, name, input),
    /** Returns a function that stops listening. */
    onAppChange: (listener: (part: AppChange) => void): (() => void) => {
      changeListeners.add(listener)
      return () => void changeListeners.delete(listener)
    },
    platform: process.platform,
  }),
)
