import { join } from 'node:path'
import { app, nativeTheme, shell as desktop } from 'electron'
import type { Logger } from 'pino'
import type { Settings } from '../shared/settings.ts'
import { inBackground } from '../shared/unawaited.ts'
import type { Controller } from '../server/controller/controller.ts'
import { type AppHandlers, pushAppChange } from './app-calls.ts'
import { decideOnClose } from './close-behaviour.ts'
import { guardAgainstCrashes } from './crash-guard.ts'
import type { DesktopLaunch } from './launch.ts'
import { setStartsAtLogin, startsAtLogin } from './login-item.ts'
import { KeepAwake } from './keep-awake.ts'
import { setApplicationMenu } from './menu.ts'
import { DownNotifications, Notifier } from './notifications.ts'
import { PreferencesFile } from './preferences.ts'
import { pushEvents } from './ipc.ts'
import { restartApp } from './relaunch.ts'
import { changesState, readConsoleSettings, readShellState, type ShellState, throttled } from './shell-state.ts'
import { type Texts, textsFor } from './texts.ts'
import { RoomdeskTray } from './tray.ts'
import { isManagedPackage } from './updates/debian-package.ts'
import { asksAdministrator } from './updates/per-machine.ts'
import { publisherKeys } from './updates/publisher-keys.ts'
import { Updates, updatesFolder } from './updates/updates.ts'
import { Walls } from './walls/walls.ts'
import { ConsoleWindow } from './window.ts'
import { WindowNotices } from './window-notices.ts'

/** Interval at which the state of the site is read for the tray, in milliseconds. */
const trayMs = 1_000
const desktopOrigin = { transport: 'ipc', client: '', role: 'admin' } as const

interface ShellOptions {
  launch: DesktopLaunch
  logger: Logger
  /** Folder of the built main program, which includes the preload. */
  folder: string
  /** Folder of the icons. */
  assets: string
  /** Resolves when the controller runs. */
  controller: Promise<Controller>
  isQuitting: () => boolean
  /** Whether the app was restarted after an unexpected error. */
  runsAgain: boolean
}

/**
 * Parts of the app outside the console's page: window, tray, menu, notifications. Must be created when the app is
 * ready.
 */
export class Shell {
  readonly #options: ShellOptions
  readonly #preferences: PreferencesFile
  readonly #notifier: Notifier
  readonly #notices: WindowNotices
  readonly #notifications: DownNotifications
  readonly #window: ConsoleWindow
  readonly #tray: RoomdeskTray
  readonly #walls: Walls
  readonly #updates: Updates
  readonly #keepAwake = new KeepAwake('prevent-app-suspension')
  #console: Settings['console'] | undefined
  #state: ShellState | undefined

  constructor(options: ShellOptions) {
    this.#options = options
    this.#preferences = new PreferencesFile(join(app.getPath('userData'), 'window.json'), options.logger)
    this.#notices = new WindowNotices(this.texts)
    this.#notifier = new Notifier({
      logger: options.logger,
      open: () => this.show(),
      onRefused: (text) => this.#notices.add(text),
    })
    this.#window = new ConsoleWindow({
      preferences: this.#preferences,
      folder: options.folder,
      icon: join(options.assets, 'icons', '512x512.png'),
      prepare: (window) => {
        pushEvents(options.controller, window)
        this.#notices.attach(window)
        guardAgainstCrashes(window, { texts: this.texts, logger: options.logger, show: this.#notify })
        decideOnClose(window, {
          preferences: this.#preferences,
          texts: this.texts,
          isQuitting: options.isQuitting,
          hide: () => {
            // Updates the choice in the menu.
            this.#draw()
            this.#window.hide()
          },
          quit: () => app.quit(),
        })
      },
    })
    this.#walls = new Walls({
      preferences: this.#preferences,
      logger: options.logger,
      folder: options.folder,
      icon: join(options.assets, 'icons', '512x512.png'),
      isQuitting: options.isQuitting,
      startsAtLogin,
      setStartsAtLogin: (starts) => this.#actions().setStartsAtLogin(starts),
      follow: (window) => pushEvents(options.controller, window),
      onChange: () => {
        pushAppChange('walls')
        this.#draw()
      },
      onCover: (display) => this.#window.leaveDisplay(display),
      onLeave: () => this.show(),
    })
    this.#updates = new Updates({
      preferences: this.#preferences,
      logger: options.logger,
      folder: updatesFolder(app.getPath('userData')),
      version: app.getVersion(),
      keys: publisherKeys(app.getAppPath(), options.logger),
      machine: {
        platform: process.platform,
        arch: process.arch,
        isPackaged: app.isPackaged,
        program: app.getPath('exe'),
        appImage: process.env.APPIMAGE,
        isManagedPackage: () => isManagedPackage(app.getPath('exe')),
        asksAdministrator: () => asksAdministrator(),
      },
      isOccupied: () => this.#state && this.#state.counts.people > 0,
      warnPeople: (inMs) => this.#warnPeople(inMs),
      restart: restartApp,
      isEnding: options.isQuitting,
      open: (file) => desktop.openPath(file),
      onChange: () => pushAppChange('updates'),
    })
    this.#tray = new RoomdeskTray(join(options.assets, 'tray'), { ...this.#actions(), open: () => this.show() })
    this.#notifications = new DownNotifications({
      texts: this.texts,
      isVisible: () => this.#window.isVisible,
      show: this.#notify,
    })
    this.#draw()
    this.#window.open({ hidden: options.launch.hidden || this.#beginsWithWalls })
    app.on('activate', () => this.show())
  }

  /** Texts of the shell in the current language. */
  readonly texts = (): Texts => textsFor(this.#console?.language ?? 'system', app.getLocale())

  /**
   * Shows a notification. While walls are open, they would hide it, so its text is shown in the console's window
   * instead.
   */
  readonly #notify = (text: string): void => {
    if (this.#walls.isOpen) this.#notices.add(text)
    else this.#notifier.show(text)
  }

  /**
   * Whether the walls open once the controller runs. They do not open earlier, because they would hide dialogs shown
   * during its start.
   */
  get #beginsWithWalls(): boolean {
    const { launch, runsAgain } = this.#options
    if (runsAgain || this.#updates.wasUpdated) return this.#walls.wereOpen
    return launch.kiosk || (launch.hidden && this.#walls.opensAtLogin)
  }

  /** Whether the operator chose to keep this computer awake while rooms are in use. */
  get keepsAwake(): boolean {
    return this.#preferences.current.keep_awake
  }

  /** Records that an installer replaces the app. @returns false if that installer starts the app itself */
  giveWayToInstaller(): boolean {
    return this.#updates.giveWayToInstaller()
  }

  /** Number of displays for which walls are chosen. */
  get chosenWalls(): number {
    return this.#preferences.current.walls.chosen.length
  }

  /** Brings the window to the front. */
  show(): void {
    this.#window.show()
  }

  /** Logs that a web page could not be opened in the operator's browser, and notifies the operator. */
  pageNotOpened(error: unknown): void {
    this.#options.logger.error({ err: error }, 'cannot open a page in the browser')
    this.#notify(this.texts().pageNotOpened)
  }

  /** Opens the walls. If no connected display has a wall, opens the settings of the displays. */
  openWalls(): void {
    if (this.#walls.open()) return
    this.#options.logger.warn('no connected display has a wall')
    this.#window.go('/settings/displays')
  }

  /** Handlers of the calls from the console's window to the app. */
  readonly handlers: AppHandlers = {
    'updates.get': () => this.#updates.view(),
    'updates.set': (choice) => {
      this.#updates.set(choice)
      return this.#updates.view()
    },
    'updates.check': async () => {
      await this.#updates.check()
      return this.#updates.view()
    },
    'updates.install': async ({ warn }) => {
      if (warn) await this.#updates.installWithWarning()
      else await this.#updates.install()
      return this.#updates.view()
    },
    'updates.cancel': async () => {
      await this.#updates.cancel()
      return this.#updates.view()
    },
    'updates.open': async () => {
      await this.#updates.open()
      return this.#updates.view()
    },
    'updates.show': () => {
      const { file } = this.#updates.view()
      if (file !== '') desktop.showItemInFolder(file)
      return this.#updates.view()
    },
    'walls.get': () => this.#walls.view(),
    'walls.choose': (choice) => {
      this.#walls.choose(choice)
      return this.#walls.view()
    },
    'walls.open': () => {
      this.openWalls()
      return this.#walls.view()
    },
  }

  /** Applies the state of a running controller to language, theme, tray and notifications, now and at each change. */
  async follow(controller: Controller): Promise<void> {
    const refresh = throttled(() => {
      inBackground(this.#refresh(controller), 'cannot read the state of the site', this.#options.logger)
    }, trayMs)
    controller.hub.listen((event) => {
      this.#notifications.onEvent(event)
      if (event.name === 'settings.changed')
        inBackground(this.#readSettings(controller), 'cannot read the settings', this.#options.logger)
      else if (changesState(event)) refresh()
    })
    await this.#readSettings(controller)
    refresh()
    if (this.#beginsWithWalls) this.openWalls()
    this.#updates.start()
  }

  async #readSettings(controller: Controller): Promise<void> {
    const settings = await readConsoleSettings(controller)
    if (settings === undefined) return
    this.#console = settings
    if (nativeTheme.themeSource !== settings.theme) nativeTheme.themeSource = settings.theme
    this.#draw()
  }

  async #refresh(controller: Controller): Promise<void> {
    this.#state = await readShellState(controller)
    this.#tray.update(this.#state, this.texts())
    this.#stayAwake()
  }

  #stayAwake(): void {
    const { people = 0, devices_joined = 0 } = this.#state?.counts ?? {}
    this.#keepAwake.update(this.#preferences.current.keep_awake && people + devices_joined > 0)
  }

  #draw(): void {
    const actions = {
      ...this.#actions(),
      go: (route: string) => this.#window.go(route),
      openDataFolder: () => inBackground(this.#openDataFolder(), 'cannot open the data folder', this.#options.logger),
      wallsAreOpen: () => this.#walls.isOpen,
      toggleWalls: () => {
        if (this.#walls.isOpen) this.#walls.close()
        else this.openWalls()
      },
      keepsInTray: () => this.#preferences.current.close === 'hide',
      keepsAwake: () => this.#preferences.current.keep_awake,
      setKeepsAwake: (keeps: boolean) => {
        this.#preferences.set({ keep_awake: keeps })
        this.#stayAwake()
      },
      setKeepsInTray: (keeps: boolean) => this.#preferences.set({ close: keeps ? 'hide' : 'quit' }),
    }
    setApplicationMenu(actions, this.texts())
    this.#tray.update(this.#state, this.texts())
  }

  #actions() {
    return {
      restartListeners: () =>
        inBackground(this.#restartListeners(), 'cannot restart the listeners', this.#options.logger),
      startsAtLogin,
      setStartsAtLogin: (starts: boolean) => {
        try {
          setStartsAtLogin(starts)
        } catch (error) {
          this.#options.logger.error({ err: error }, 'cannot change the start at login')
        }
        this.#draw()
      },
      quit: () => app.quit(),
    }
  }

  async #warnPeople(inMs: number | undefined): Promise<void> {
    const controller = await this.#options.controller
    const result =
      inMs === undefined
        ? await controller.dispatch('media.withdraw_restart', {}, desktopOrigin)
        : await controller.dispatch('media.announce_restart', { in_ms: inMs }, desktopOrigin)
    if (!result.ok) throw new Error(result.error.message)
  }

  async #restartListeners(): Promise<void> {
    const controller = await this.#options.controller
    const result = await controller.dispatch('listeners.restart', {}, desktopOrigin)
    if (!result.ok) throw new Error(result.error.message)
  }

  async #openDataFolder(): Promise<void> {
    const failure = await desktop.openPath(this.#options.launch.dataFolder)
    if (failure !== '') throw new Error(failure)
  }
}
