import type { Page } from 'playwright-core'
import { pages } from '../../../renderer/console/pages.ts'
import { surfacesIn } from './sources.ts'
import type { Way } from './surface-walk.ts'

/** Opens the row of a list. */
const row =
  (text: string | RegExp) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('row').filter({ hasText: text }).first().click()
  }
/** Clicks a button whose name holds something that changes. */
const button =
  (name: RegExp) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name }).first().click()
  }
/** Clicks the main action of a page, at the right of its title. */
const mainAction = async (page: Page): Promise<void> => {
  await page.locator('.page-header .app-button.primary').click()
}

/** Dialogs that a page of the table of pages has in its own file: the main action of the page opens them. */
function dialogsOfPages(): Record<string, Way> {
  const own = new Set(surfacesIn('console').filter((name) => name.endsWith('Dialog')))
  const ways = Object.entries(pages).flatMap(([name, { path }]) =>
    ['AppDialog', 'FormDialog'].map((kind): [string, Way] => {
      const surface = `${name.charAt(0).toUpperCase()}${name.slice(1)}Page ${kind}`
      return [surface, { route: path.replace(/\/:.*/, ''), path: [mainAction] }]
    }),
  )
  return Object.fromEntries(ways.filter(([surface]) => own.has(surface)))
}

/**
 * Every dialog, panel and menu of the console that a site on one machine has, and how an admin opens it. A test compares this list with the sources.
 * The last one ends the sessions of the console key.
 * @param room number of a room with somebody in it
 */
export function consoleSurfaces(room: string): Record<string, Way> {
  const inRoom = `/rooms/${room}`
  const settings = '/settings'
  return {
    ...dialogsOfPages(),
    // Around the pages.
    'FindPalette AppDialog': { route: '/overview', path: [(page) => page.keyboard.press('Control+K')] },
    'ShortcutSheet AppDialog': { route: '/overview', path: [(page) => page.keyboard.press('?')] },
    'HelpDrawer AppDialog': {
      route: '/devices',
      path: [
        (page) =>
          page
            .getByTitle(/^Help: /)
            .first()
            .click(),
      ],
    },
    'PhoneNav AppDialog': { route: '/overview', path: ['around: More'], only: 'phone' },
    'WaitingMessage AppDialog': { route: '/overview', path: [button(/^Send a message/)] },
    'DiagnosticsDialog AppDialog': { route: '/readiness', path: ['Save diagnostics'] },
    // Lab.
    'LabCameraDialog FormDialog': { route: '/lab', path: ['Add test camera'] },
    'LabTestPeopleDialog FormDialog': { route: '/lab', path: ['Add test people'] },
    'LabCameraRoomDialog FormDialog': { route: '/lab', path: ['Add to a room: door'] },
    // Credentials.
    'CredentialPanel SidePanel': { route: '/credentials/kiosk', path: [] },
    'CredentialsPage AppMenu': { route: '/credentials', path: ['More actions: Kiosk'] },
    'ConfirmHost AppDialog': { route: '/credentials', path: ['More actions: Kiosk', 'menu Delete'] },
    'CredentialDialog FormDialog': { route: '/credentials', path: [mainAction] },
    'SecretDialog AppDialog': {
      route: '/credentials',
      path: ['More actions: Kiosk', 'menu Show secret', 'Show the secret? Show secret'],
    },
    // Rooms.
    'RoomPanel SidePanel': { route: inRoom, path: [] },
    'RoomsPage AppMenu': { route: '/rooms', path: ['More actions: Open'] },
    'RoomPeople AppMenu': { route: inRoom, path: [button(/^More actions: Ann/)] },
    'RoomDialog FormDialog': { route: '/rooms', path: [mainAction] },
    'InviteDialog AppDialog': { route: inRoom, path: ['Invite'] },
    'RoomPanel AppMenu': { route: inRoom, path: ['More actions for this room'] },
    'StreamDialog FormDialog': { route: '/devices/joined', path: ['Stream live…'] },
    'SaveTemplate FormDialog': { route: inRoom, path: ['More actions for this room', 'menu Save as template'] },
    'TemplateList AppDialog': { route: '/rooms', path: ['Templates'] },
    // Nodes.
    'NodePanel SidePanel': { route: '/nodes/Hall', path: [] },
    'NodesPage AppMenu': { route: '/nodes', path: ['More actions: Hall'] },
    'NodeDialog FormDialog': { route: '/nodes', path: [mainAction] },
    // Devices.
    'DevicePanel SidePanel': { route: '/devices/joined', path: [] },
    'DevicesPage AppMenu': { route: '/devices', path: ['More actions: joined'] },
    'AddDeviceDialog AppDialog': { route: '/devices', path: ['Add device'] },
    'EditDeviceDialog FormDialog': { route: '/devices', path: ['More actions: paused', 'menu Edit'] },
    'ImportDialog AppDialog': { route: '/devices', path: ['Import CSV'] },
    'MoveDialog FormDialog': { route: '/devices', path: ['Select all', 'Move'] },
    'LoginsDialog AppDialog': { route: '/devices', path: ['Select all', 'Change logins'] },
    'TagsDialog AppDialog': { route: '/devices', path: ['Select all', 'Tags…'] },
    // The wall.
    'WallPage AppMenu': { route: '/wall', path: ['More actions'] },
    'WallPicker AppDialog': { route: '/wall', path: ['Choose pictures'] },
    'WallOptions AppDialog': { route: '/wall', path: ['Layout'] },
    'WallPage FormDialog': { route: '/wall', path: ['More actions', 'menu Save as a new view'] },
    // Records.
    'IncidentDialog FormDialog': { route: '/events', path: ['Save incident'] },
    'EventPanel SidePanel': { route: '/events', path: [row('created')] },
    'ActivityPanel SidePanel': { route: '/activity', path: [row('get_room')] },
    'TrashPage AppMenu': { route: '/trash', path: [button(/^More actions/)] },
    // The account and settings.
    'TokenDialog AppDialog': { route: '/account', path: ['Create token…'] },
    'LicenceCard AppDialog': { route: `${settings}/licence`, path: ['Paste'] },
    'BackupsCard AppDialog': { route: `${settings}/data`, path: [button(/^Restore/)] },
    'BackupsCard AppMenu': { route: `${settings}/data`, path: [button(/^More actions/)] },
    'AccountDialog FormDialog': { route: `${settings}/accounts`, path: ['Add account…'] },
    'AccountsCard AppMenu': { route: `${settings}/accounts`, path: ['More actions: The viewer'] },
    'ResetPasswordDialog FormDialog': {
      route: `${settings}/accounts`,
      path: ['More actions: The viewer', 'menu New password…'],
    },
    'HeldDialog AppDialog': {
      route: `${settings}/accounts`,
      path: ['More actions: The viewer', 'menu Sessions and tokens…'],
    },
    'KeyCard AppDialog': {
      route: `${settings}/console`,
      path: [
        'Replace the key…',
        (page) => page.getByRole('dialog').getByRole('button', { name: 'Replace the key…' }).click(),
      ],
    },
  }
}
/** Surfaces that other sites have, each with the test that looks at it there. */
export const onOtherSites: Readonly<Record<string, string>> = {
  'ControllerPanel SidePanel': 'test/e2e/controllers.test.ts',
  'ConflictHost AppDialog': 'test/faults/two-consoles.test.ts',
  'ControllersPage AppMenu': 'test/e2e/controllers.test.ts',
  'ExportDialog AppDialog': 'test/journeys/recordings-page.test.ts',
  'TemplateDialog FormDialog': 'test/journeys/meetings-console.test.ts',
  'OrderedPage AppMenu': 'test/faults/recordings-ordered.test.ts',
  'PasswordHost FormDialog': 'test/journeys/password-dialog.test.ts',
  'RecordingsPage AppMenu': 'test/journeys/recordings-page.test.ts',
  'RunningOrders AppMenu': 'test/faults/recordings-ordered.test.ts',
  'RuleDialog FormDialog': 'test/journeys/recordings-page.test.ts',
  'SessionOver dialog': 'test/faults/session-ends.test.ts',
}
