import { app, Menu, type MenuItemConstructorOptions } from 'electron'
import { menuPages } from '../shared/menu-pages.ts'
import type { Texts } from './texts.ts'

export interface MenuActions {
  /** Opens a page of the console by its route. */
  go: (route: string) => void
  restartListeners: () => void
  openDataFolder: () => void
  quit: () => void
  startsAtLogin: () => boolean
  setStartsAtLogin: (starts: boolean) => void
  wallsAreOpen: () => boolean
  /** Opens the walls of this computer's displays, or closes them. */
  toggleWalls: () => void
  keepsInTray: () => boolean
  keepsAwake: () => boolean
  setKeepsAwake: (keeps: boolean) => void
  setKeepsInTray: (keeps: boolean) => void
}

/** Sets the application menu. Must be called again when the language or a check mark changes. */
export function setApplicationMenu(actions: MenuActions, texts: Texts): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(template(actions, texts)))
}

function template(actions: MenuActions, texts: Texts): MenuItemConstructorOptions[] {
  const isMac = process.platform === 'darwin'
  const separator: MenuItemConstructorOptions = { type: 'separator' }
  const role = (name: keyof Texts['roles']): MenuItemConstructorOptions => ({ role: name, label: texts.roles[name] })
  const quit: MenuItemConstructorOptions = {
    id: 'quit',
    label: texts.quit,
    accelerator: 'CmdOrCtrl+Q',
    click: actions.quit,
  }
  const settings: MenuItemConstructorOptions = {
    id: 'settings',
    label: texts.pages.settings,
    accelerator: 'CmdOrCtrl+,',
    click: () => actions.go('/settings'),
  }
  const choices: MenuItemConstructorOptions[] = [
    {
      id: 'start-at-login',
      label: texts.startAtLogin,
      type: 'checkbox',
      checked: actions.startsAtLogin(),
      click: ({ checked }) => actions.setStartsAtLogin(checked),
    },
    {
      id: 'keep-in-tray',
      label: texts.keepInTray,
      type: 'checkbox',
      checked: actions.keepsInTray(),
      click: ({ checked }) => actions.setKeepsInTray(checked),
    },
    {
      id: 'keep-awake',
      label: texts.keepAwake,
      type: 'checkbox',
      checked: actions.keepsAwake(),
      click: ({ checked }) => actions.setKeepsAwake(checked),
    },
  ]
  const about: MenuItemConstructorOptions = { role: 'about', label: texts.about }
  const ofTheApp: MenuItemConstructorOptions = {
    label: app.name,
    submenu: [
      about,
      separator,
      settings,
      ...choices,
      separator,
      role('hide'),
      role('hideOthers'),
      role('unhide'),
      separator,
      quit,
    ],
  }
  const file: MenuItemConstructorOptions = {
    label: texts.file,
    submenu: [
      {
        id: 'restart-listeners',
        label: texts.restartListeners,
        accelerator: 'CmdOrCtrl+Shift+R',
        click: actions.restartListeners,
      },
      { id: 'data-folder', label: texts.openDataFolder, click: actions.openDataFolder },
      ...(isMac ? [] : [separator, settings, ...choices]),
      separator,
      role('close'),
      ...(isMac ? [] : [quit]),
    ],
  }
  const go: MenuItemConstructorOptions = {
    label: texts.go,
    submenu: menuPages.map((page, index) => ({
      id: `go-${page}`,
      label: texts.pages[page],
      accelerator: `CmdOrCtrl+${index + 1}`,
      click: () => actions.go(`/${page}`),
    })),
  }
  const view: MenuItemConstructorOptions = {
    label: texts.view,
    submenu: [
      role('reload'),
      ...(app.isPackaged ? [] : [role('toggleDevTools')]),
      separator,
      role('resetZoom'),
      role('zoomIn'),
      role('zoomOut'),
      separator,
      role('togglefullscreen'),
      {
        id: 'walls',
        label: actions.wallsAreOpen() ? texts.closeWalls : texts.openWalls,
        click: actions.toggleWalls,
      },
    ],
  }
  const edit: MenuItemConstructorOptions = {
    role: 'editMenu',
    label: texts.edit,
    submenu: [
      role('undo'),
      role('redo'),
      separator,
      role('cut'),
      role('copy'),
      role('paste'),
      role('delete'),
      separator,
      role('selectAll'),
    ],
  }
  const help: MenuItemConstructorOptions = { role: 'help', label: texts.help, submenu: [about] }
  const window: MenuItemConstructorOptions = {
    role: 'windowMenu',
    label: texts.window,
    submenu: [role('minimize'), role('zoom'), separator, role('front')],
  }
  return isMac ? [ofTheApp, file, edit, go, view, window, help] : [file, edit, go, view, help]
}
