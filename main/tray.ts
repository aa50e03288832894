import { join } from 'node:path'
import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron'
import type { ShellState } from './shell-state.ts'
import type { Texts } from './texts.ts'

/** What the tray's menu can do. */
export interface TrayActions {
  open: () => void
  restartListeners: () => void
  quit: () => void
  startsAtLogin: () => boolean
  setStartsAtLogin: (starts: boolean) => void
}

/** The icon in the tray: shows whether something wants attention, and opens the window. */
export class RoomdeskTray {
  readonly #tray: Tray
  readonly #actions: TrayActions
  readonly #folder: string

  /** @param folder with the icons */
  constructor(folder: string, actions: TrayActions) {
    this.#folder = folder
    this.#actions = actions
    this.#tray = new Tray(this.#icon('ok'))
    this.#tray.on('click', actions.open)
    this.#tray.on('double-click', actions.open)
  }

  /** @param state undefined while the controller starts */
  update(state: ShellState | undefined, texts: Texts): void {
    const urgent = state?.attention.filter(({ level }) => level !== 'info').length ?? 0
    const summary = state === undefined ? texts.starting : urgent > 0 ? texts.attention(urgent) : texts.allWell
    this.#tray.setImage(this.#icon(urgent > 0 ? 'attention' : 'ok'))
    this.#tray.setToolTip(`Roomdesk: ${summary}`)
    this.#tray.setContextMenu(Menu.buildFromTemplate(this.#menu(state, summary, texts)))
  }

  #menu(state: ShellState | undefined, summary: string, texts: Texts): MenuItemConstructorOptions[] {
    const actions = this.#actions
    const { rooms = 0, people = 0, devices_joined = 0 } = state?.counts ?? {}
    return [
      { id: 'state', label: summary, enabled: false },
      {
        id: 'counts',
        label: texts.counts(rooms, people, devices_joined),
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
        click: ({ checked }) => actions.setStartsAtLogin(checked),
      },
      { type: 'separator' },
      { id: 'quit', label: texts.quit, click: actions.quit },
    ]
  }

  /** macOS colours a template image itself; elsewhere the icon carries its own colours. */
  #icon(kind: 'ok' | 'attention'): Electron.NativeImage {
    const isMac = process.platform === 'darwin'
    const image = nativeImage.createFromPath(
      join(this.#folder, isMac ? `tray-${kind}-Template.png` : `tray-${kind}.png`),
    )
    if (isMac) image.setTemplateImage(true)
    return image
  }
}
