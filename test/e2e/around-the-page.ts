import type { ElectronApplication } from 'playwright-core'

/** Effects of the app outside its page, recorded in the main process because a test cannot see a real tray or notification. */

/** One entry of a menu. */
export interface MenuEntry {
  id: string
  label: string
  type: string
  enabled: boolean
  visible: boolean
  checked: boolean
  accelerator: string
  submenu: MenuEntry[]
}

/** The tray as last drawn. */
export interface TrayState {
  toolTip: string
  entries: MenuEntry[]
}

interface Notes {
  notifications: string[]
  tray?: { emit: (event: string) => boolean } | undefined
  toolTip: string
  menu?: Electron.Menu | undefined
}

/** Starts recording; earlier events are unknown, and the tray appears with its next change. */
export async function noteSurroundings(app: ElectronApplication): Promise<void> {
  await app.evaluate(({ Notification, Tray }) => {
    const notes: Notes = { notifications: [], toolTip: '' }
    Object.assign(globalThis, { notes })
    Notification.prototype.show = function (this: Electron.Notification) {
      notes.notifications.push(this.body)
    }
    const { setContextMenu, setToolTip } = Tray.prototype
    Tray.prototype.setContextMenu = function (this: Electron.Tray, menu) {
      notes.tray = this
      if (menu !== null) notes.menu = menu
      setContextMenu.call(this, menu)
    }
    Tray.prototype.setToolTip = function (this: Electron.Tray, text) {
      notes.toolTip = text
      setToolTip.call(this, text)
    }
  })
}

/** Texts of the recorded notifications. */
export const notifications = (app: ElectronApplication): Promise<string[]> =>
  app.evaluate(() => (globalThis as unknown as { notes: Notes }).notes.notifications)

export async function tray(app: ElectronApplication): Promise<TrayState | undefined> {
  return app.evaluate(() => {
    const { menu, toolTip } = (globalThis as unknown as { notes: Notes }).notes
    if (menu === undefined) return undefined
    const entries = menu.items.map(({ id, label, type, enabled, visible, checked }) => ({
      ...{ id, label, type, enabled, visible, checked },
      accelerator: '',
      submenu: [],
    }))
    return { toolTip, entries }
  })
}

/** Clicks the tray's icon. */
export const clickTray = (app: ElectronApplication): Promise<void> =>
  app.evaluate(() => void (globalThis as unknown as { notes: Notes }).notes.tray?.emit('click'))

/** Chooses an entry of the tray's menu. */
export const chooseInTray = (app: ElectronApplication, id: string): Promise<void> =>
  app.evaluate((_electron, wanted) => {
    const entry = (globalThis as unknown as { notes: Notes }).notes.menu?.getMenuItemById(wanted)
    if (!entry) throw new Error(`the tray has no ${wanted}`)
    // Electron types it as any function.
    const click = entry.click as () => void
    click()
  }, id)

/** Reads the application menu, level by level. */
export async function applicationMenu(app: ElectronApplication): Promise<MenuEntry[]> {
  return app.evaluate(({ Menu }) => {
    const read = (menu: Electron.Menu | null | undefined): MenuEntry[] =>
      (menu?.items ?? []).map((item) => ({
        id: item.id,
        label: item.label,
        type: item.type,
        enabled: item.enabled,
        visible: item.visible,
        checked: item.checked,
        accelerator: item.accelerator?.toString() ?? '',
        submenu: item.type === 'submenu' ? read(item.submenu) : [],
      }))
    return read(Menu.getApplicationMenu())
  })
}

/** Chooses an entry of the application menu. */
export const chooseInMenu = (app: ElectronApplication, id: string): Promise<void> =>
  app.evaluate(({ Menu }, wanted) => {
    const entry = Menu.getApplicationMenu()?.getMenuItemById(wanted)
    if (!entry) throw new Error(`the menu has no ${wanted}`)
    // Electron types it as any function.
    const click = entry.click as () => void
    click()
  }, id)

/** State of the window; undefined: no window. */
export interface WindowState {
  visible: boolean
  minimized: boolean
  maximized: boolean
  focused: boolean
  /** In full screen. */
  full: boolean
  bounds: { x: number; y: number; width: number; height: number }
}

export const windowState = (app: ElectronApplication): Promise<WindowState | undefined> =>
  app.evaluate(({ BrowserWindow }) => {
    const [window] = BrowserWindow.getAllWindows()
    if (window === undefined) return undefined
    return {
      visible: window.isVisible(),
      minimized: window.isMinimized(),
      maximized: window.isMaximized(),
      focused: window.isFocused(),
      full: window.isFullScreen(),
      bounds: window.getNormalBounds(),
    }
  })

/** Acts on the window, as the operator does with its frame. */
export const withWindow = (
  app: ElectronApplication,
  act: 'close' | 'hide' | 'show' | 'minimize' | 'maximize' | 'unmaximize',
): Promise<void> => app.evaluate(({ BrowserWindow }, name) => void BrowserWindow.getAllWindows()[0]?.[name](), act)
