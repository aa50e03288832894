import { join } from 'node:path'
import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import type { ShellState } from './shell-state.ts'
import { fill } from '../shared/refusals/template.ts'
import { attentionText, type Texts } from './texts.ts'

export interface TrayActions {
  open: () => void
  restartListeners: () => void
  quit: () => void
  startsAtLogin: () => boolean
  setStartsAtLogin: (starts: boolean) => void
}

type IconKind = 'ok' | 'attention'

/** Tray icon: shows whether something requires attention, and opens the window. */
export class RoomdeskTray {
  readonly #tray: Tray
  readonly #actions: TrayActions
  readonly #folder: string
  #kind: IconKind = 'ok'
  #toolTip = ''
  #entries = ''
  #isOpen = false
  /** Entries to apply after the menu closes; undefined: no change. */
  #next: MenuItemConstructorOptions[] | undefined

  /** @param folder folder of the icons */
  constructor(folder: string, actions: TrayActions) {
    this.#folder = folder
    this.#actions = actions
    this.#tray = new Tray(this.#icon(this.#kind))
    // On macOS a click opens the menu, which has an entry for opening the window.
    if (process.platform === 'darwin') return
    this.#tray.on('click', actions.open)
    this.#tray.on('double-click', actions.open)
  }

  /** @param state undefined while the controller starts, or if its state could not be read */
  update(state: ShellState | undefined, texts: Texts): void {
    const urgent = state?.attention.filter(({ level }) => level !== 'info').length ?? 0
    const summary = state === undefined ? texts.starting : urgent > 0 ? attentionText(texts, urgent) : texts.allWell
    this.#setIcon(urgent > 0 ? 'attention' : 'ok')
    this.#setToolTip(`Roomdesk: ${summary}`)
    this.#setEntries(this.#menu(state, summary, texts))
  }

  #setIcon(kind: IconKind): void {
    if (kind === this.#kind) return
    this.#kind = kind
    this.#tray.setImage(this.#icon(kind))
  }

  #setToolTip(text: string): void {
    if (text === this.#toolTip) return
    this.#toolTip = text
    this.#tray.setToolTip(text)
  }

  /**
   * Sets the entries of the menu. Replacing an open menu would close it under the pointer, so the new entries are
   * applied after the menu closes, if the system reports the closing.
   */
  #setEntries(entries: MenuItemConstructorOptions[]): void {
    // JSON omits the click handlers, which never change.
    const text = JSON.stringify(entries)
    if (this.#isOpen) {
      this.#next = entries
      return
    }
    if (text === this.#entries) return
    this.#entries = text
    const menu = Menu.buildFromTemplate(entries)
    // On Linux another program shows the menu, and may not report its closing.
    if (process.platform !== 'linux') this.#watch(menu)
    this.#tray.setContextMenu(menu)
  }

  #watch(menu: Electron.Menu): void {
    menu.on('menu-will-show', () => {
      this.#isOpen = true
    })
    menu.on('menu-will-close', () => {
      this.#isOpen = false
      // The click on an entry is reported after this event.
      setImmediate(() => {
        const next = this.#next
        this.#next = undefined
        if (next !== undefined && !this.#isOpen) this.#setEntries(next)
      })
    })
  }

  #menu(state: ShellState | undefined, summary: string, texts: Texts): MenuItemConstructorOptions[] {
    const actions = this.#actions
    const { rooms = 0, people = 0, devices_joined = 0 } = state?.counts ?? {}
    return [
      { id: 'state', label: summary, enabled: false },
      {
        id: 'counts',
        label: fill(texts.counts, { rooms, people, devices: devices_joined }),
        enabled: false,
        visible: state !== undefined,
      },
      { type: 'separator' },
      { id: 'open', label: texts.open, click: actions.open },
      {
        id: 'restart-listeners',
        label: texts.restartListeners,
        enabled: state !== undefined,
        click: actions.restartListeners,
      },
      {
        id: 'start-at-login',
        label: texts.startAtLogin,
        type: 'checkbox',
        checked: actions.startsAtLogin(),
        click: ({ checked }) => {
          // The system has already toggled the check mark. Clearing the entries forces the mark to be set again,
          // regardless of the result.
          this.#entries = ''
          actions.setStartsAtLogin(checked)
        },
      },
      { type: 'separator' },
      { id: 'quit', label: texts.quit, click: actions.quit },
    ]
  }

  /** Returns the icon. macOS colors a template image itself; the icon for other systems has its own colors. */
  #icon(kind: IconKind): Electron.NativeImage {
    const isMac = process.platform === 'darwin'
    const image = nativeImage.createFromPath(
      join(this.#folder, isMac ? `tray-${kind}-Template.png` : `tray-${kind}.png`),
    )
    if (isMac) image.setTemplateImage(true)
    return image
  }
}
