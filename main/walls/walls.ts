import { join } from 'node:path'
import { type BrowserWindow, type Display, globalShortcut, screen } from 'electron'
import type { Logger } from 'pino'
import type { AppInput, WallDisplay, WallChoice, WallsView } from '../../shared/app-contract.ts'
import { KeepAwake } from '../keep-awake.ts'
import { areWindowsPlaced } from '../window-placement.ts'
import type { PreferencesFile } from '../preferences.ts'
import { wayOut } from './wall-keys.ts'
import { WallWindow } from './wall-window.ts'

interface WallsOptions {
  preferences: PreferencesFile
  logger: Logger
  /** Folder of the built main program, which includes the preload. */
  folder: string
  icon: string
  isQuitting: () => boolean
  startsAtLogin: () => boolean
  setStartsAtLogin: (starts: boolean) => void
  /** Sends the events of the controller to a window. */
  follow: (window: BrowserWindow) => void
  /** Called when displays, choices or windows have changed. */
  onChange: () => void
  /** Called when walls have covered a display. */
  onCover: (display: Display) => void
  /** Called when a user has left the walls. */
  onLeave: () => void
}

/** Walls of this computer: a saved view on each display for which the operator chose one. */
export class Walls {
  readonly #options: WallsOptions
  readonly #keepAwake = new KeepAwake('prevent-display-sleep')
  /** Windows of the open walls, by display id. */
  readonly #windows = new Map<number, WallWindow>()
  #isOpen = false

  /** Must be created when the app is ready. */
  constructor(options: WallsOptions) {
    this.#options = options
    const changed = (): void => this.#changed()
    screen.on('display-added', changed)
    screen.on('display-removed', changed)
    screen.on('display-metrics-changed', changed)
  }

  /** Whether the walls are open, even while their displays are disconnected. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether the operator chose to open the walls at login. */
  get opensAtLogin(): boolean {
    return this.#options.preferences.current.walls.at_login
  }

  /** Whether the walls were open when the app last ran. */
  get wereOpen(): boolean {
    return this.#options.preferences.current.walls.open
  }

  view(): WallsView {
    const { chosen, at_login } = this.#options.preferences.current.walls
    const displays = screen.getAllDisplays().map(describeDisplay)
    const primary = screen.getPrimaryDisplay().id
    const found = findDisplays(chosen, displays)
    const viewOf = new Map([...found].map(([index, { id }]) => [id, chosen[index]?.view ?? '']))
    return {
      displays: [
        ...displays.map((display) => {
          const { id } = display
          return { display, connected: true, primary: id === primary, view: viewOf.get(id) ?? '' }
        }),
        ...chosen
          .filter((_choice, index) => !found.has(index))
          .map(({ display, view }) => ({ display, connected: false, primary: false, view })),
      ],
      at_login: at_login && this.#options.startsAtLogin(),
      open: this.#isOpen,
    }
  }

  /** Stores the views of the displays. Open walls are updated at once. */
  choose({ walls, at_login }: AppInput<'walls.choose'>): void {
    this.#store({ chosen: walls, at_login })
    // The walls can open at login only if the app starts at login. If the operator disables this option again, the app
    // still starts, without its walls.
    if (at_login && !this.#options.startsAtLogin()) this.#options.setStartsAtLogin(true)
    this.#changed()
  }

  /** Opens the walls of all connected displays. @returns false if no connected display has a wall */
  open(): boolean {
    if (!this.#isOpen) {
      this.#isOpen = true
      if (!areWindowsPlaced() && screen.getAllDisplays().length > 1)
        this.#options.logger.warn(
          'Wayland lets no program place its windows: start the app with --ozone-platform=x11 for walls on several displays',
        )
      this.#store({ open: true })
      // Wall windows also handle the shortcut, because another program may have registered it. On Wayland the desktop
      // asks the operator, and this call returns true before the answer.
      if (!globalShortcut.register(wayOut, () => this.#leave()))
        this.#options.logger.warn(
          { keys: wayOut },
          'the keys that close the walls work only while a wall has the focus',
        )
    }
    this.#changed()
    this.#windows.values().next().value?.focus()
    return this.#windows.size > 0
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#store({ open: false })
    globalShortcut.unregister(wayOut)
    this.#changed()
  }

  #leave(): void {
    this.#options.logger.info('the walls were closed by the keyboard')
    this.close()
    this.#options.onLeave()
  }

  #store(change: Partial<PreferencesFile['current']['walls']>): void {
    const { preferences } = this.#options
    preferences.set({ walls: { ...preferences.current.walls, ...change } })
  }

  #changed(): void {
    this.#arrange()
    this.#keepAwake.update(this.#windows.size > 0)
    this.#options.onChange()
  }

  /**
   * Opens missing walls, and closes walls whose display or view was removed. If a display was moved or resized, its
   * wall gets a new window: a full-screen window would keep its size. Leaving and entering full screen instead would
   * take time, and systems do not reliably report the end of the change.
   */
  #arrange(): void {
    const { chosen } = this.#options.preferences.current.walls
    const displays = new Map(screen.getAllDisplays().map((display) => [display.id, display]))
    const found = findDisplays(this.#isOpen ? chosen : [], [...displays.values()].map(describeDisplay))
    const wanted = new Map<number, string>()
    for (const [index, { id }] of found) wanted.set(id, chosen[index]?.view ?? '')
    const open = [...this.#windows]
    const ending = open.filter(([id, window]) => {
      const bounds = displays.get(id)?.bounds
      return wanted.get(id) !== window.view || bounds === undefined || !window.isFor(bounds)
    })
    // On macOS each wall restores the state that existed when it opened, so the initial state is restored only if all
    // walls close.
    const closed = process.platform === 'darwin' && ending.length > 0 ? open : ending
    for (const [id, window] of closed.reverse()) {
      window.destroy()
      this.#windows.delete(id)
    }
    for (const [id, view] of wanted) {
      const display = displays.get(id)
      if (display !== undefined && !this.#windows.has(id)) this.#openOn(display, view)
    }
  }

  #openOn(display: Display, view: string): void {
    const { logger, folder, icon, isQuitting, follow, onCover } = this.#options
    const window = new WallWindow({
      ...{ bounds: display.bounds, view, logger, icon, isQuitting, follow },
      preload: join(folder, 'preload.cjs'),
      leave: () => this.#leave(),
    })
    this.#windows.set(display.id, window)
    logger.info({ display: display.label, view }, 'a wall was opened')
    onCover(display)
  }
}

/** Returns a display in its stored form. */
function describeDisplay({ id, label, size }: Pick<Display, 'id' | 'label' | 'size'>): WallDisplay {
  return { id, label: label.slice(0, 200), width: Math.round(size.width), height: Math.round(size.height) }
}

/**
 * Finds the connected display of each chosen wall: by its id, otherwise by name and size, because the system may assign
 * a new id to a reconnected display.
 * @returns displays by the index of the choice; each display occurs at most once
 */
export function findDisplays(
  choices: readonly WallChoice[],
  displays: readonly WallDisplay[],
): ReadonlyMap<number, WallDisplay> {
  const found = new Map<number, WallDisplay>()
  const free = new Map(displays.map((display) => [display.id, display]))
  const take = (matches: (chosen: WallDisplay, display: WallDisplay) => boolean): void => {
    choices.forEach(({ display: chosen }, index) => {
      if (found.has(index)) return
      const display = [...free.values()].find((one) => matches(chosen, one))
      if (display === undefined) return
      found.set(index, display)
      free.delete(display.id)
    })
  }
  take((chosen, { id }) => chosen.id === id)
  take(
    (chosen, { label, width, height }) =>
      label !== '' && chosen.label === label && chosen.width === width && chosen.height === height,
  )
  return found
}
