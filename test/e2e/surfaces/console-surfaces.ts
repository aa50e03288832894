import type { Page } from 'playwright-core'
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

/**
 * Every dialog, drawer, panel and menu of the console that a site on one machine has, and how an admin opens it. A test compares this list with the sources.
 * The last one ends the sessions of the console key.
 * @param room number of a room with somebody in it
 */
export function consoleSurfaces(room: string): Record<string, Way> {
  const inRoom = `/rooms/${room}`
  const settings = '/settings'
  return {
    // Around the pages.
    'FindPalette ElDialog': { route: '/overview', path: [(page) => page.keyboard.press('Control+K')] },
    'ShortcutSheet ElDialog': { route: '/overview', path: [(page) => page.keyboard.press('?')] },
    'HelpDrawer ElDrawer': {
      route: '/devices',
      path: [
        (page) =>
          page
            .getByTitle(/^Help: /)
            .first()
            .click(),
      ],
    },
    'PhoneNav ElDrawer': { route: '/overview', path: ['around: More'], only: 'phone' },
    'WaitingMessage ElDialog': { route: '/overview', path: [button(/^Send a message/)] },
    'DiagnosticsDialog ElDialog': { route: '/readiness', path: ['Save diagnostics'] },
    // Credentials.
    'CredentialPanel SidePanel': { route: '/credentials/kiosk', path: [] },
    'CredentialsPage RowMenu': { route: '/credentials', path: ['More actions: Kiosk'] },
    'ConfirmHost ElDialog': { route: '/credentials', path: ['More actions: Kiosk', 'menu Delete'] },
    'CredentialDialog ElDialog': { route: '/credentials', path: ['New credential'] },
    'SecretDialog ElDialog': {
      route: '/credentials',
      path: ['More actions: Kiosk', 'menu Show secret', 'Show the secret? Show secret'],
    },
    // Rooms.
    'RoomPanel SidePanel': { route: inRoom, path: [] },
    'RoomsPage RowMenu': { route: '/rooms', path: ['More actions: Open'] },
    'RoomPeople RowMenu': { route: inRoom, path: [button(/^More actions: Ann/)] },
    'RoomDialog ElDialog': { route: '/rooms', path: ['New room'] },
    'InviteDialog ElDialog': { route: inRoom, path: ['Invite'] },
    'RoomPanel RowMenu': { route: inRoom, path: ['More actions for this room'] },
    'StreamDialog ElDialog': { route: '/devices/joined', path: ['Stream live…'] },
    'SaveTemplate ElDialog': { route: inRoom, path: ['More actions for this room', 'menu Save as template'] },
    'TemplateList ElDialog': { route: '/rooms', path: ['Templates'] },
    // Nodes.
    'NodePanel SidePanel': { route: '/nodes/Hall', path: [] },
    'NodesPage RowMenu': { route: '/nodes', path: ['More actions: Hall'] },
    'NodeDialog ElDialog': { route: '/nodes', path: ['Add node'] },
    // Devices.
    'DevicePanel SidePanel': { route: '/devices/joined', path: [] },
    'DevicesPage RowMenu': { route: '/devices', path: ['More actions: joined'] },
    'AddDeviceDialog ElDialog': { route: '/devices', path: ['Add device'] },
    'EditDeviceDialog ElDialog': { route: '/devices', path: ['More actions: paused', 'menu Edit'] },
    'ImportDialog ElDialog': { route: '/devices', path: ['Import CSV'] },
    'MoveDialog ElDialog': { route: '/devices', path: ['Select all', 'Move'] },
    'LoginsDialog ElDialog': { route: '/devices', path: ['Select all', 'Change logins'] },
    'TagsDialog ElDialog': { route: '/devices', path: ['Select all', 'Tags…'] },
    // The wall.
    'WallPage RowMenu': { route: '/wall', path: ['More actions'] },
    'WallPicker ElDialog': { route: '/wall', path: ['Choose pictures'] },
    'WallOptions ElDialog': { route: '/wall', path: ['Layout'] },
    'ViewNameDialog ElDialog': { route: '/wall', path: ['More actions', 'menu Save as a new view'] },
    // Records.
    'EventPanel SidePanel': { route: '/events', path: [row('created')] },
    'ActivityPanel SidePanel': { route: '/activity', path: [row('get_room')] },
    'TrashPage RowMenu': { route: '/trash', path: [button(/^More actions/)] },
    // The account and settings.
    'TokenDialog ElDialog': { route: '/account', path: ['Create token…'] },
    'LicenceCard ElDialog': { route: `${settings}/licence`, path: ['Paste'] },
    'BackupsCard ElDialog': { route: `${settings}/data`, path: [button(/^Restore/)] },
    'BackupsCard RowMenu': { route: `${settings}/data`, path: [button(/^More actions/)] },
    'AccountDialog ElDialog': { route: `${settings}/accounts`, path: ['Add account…'] },
    'AccountsCard RowMenu': { route: `${settings}/accounts`, path: ['More actions: The viewer'] },
    'ResetPasswordDialog ElDialog': {
      route: `${settings}/accounts`,
      path: ['More actions: The viewer', 'menu New password…'],
    },
    'HeldDialog ElDialog': {
      route: `${settings}/accounts`,
      path: ['More actions: The viewer', 'menu Sessions and tokens…'],
    },
    'KeyCard ElDialog': {
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
  'ConflictHost ElDialog': 'test/faults/two-consoles.test.ts',
  'ControllersPage RowMenu': 'test/e2e/controllers.test.ts',
  'ExportDialog ElDialog': 'test/e2e/recordings-page.test.ts',
  'TemplateDialog ElDialog': 'test/e2e/meetings-console.test.ts',
  'OrderedPage RowMenu': 'test/faults/recordings-ordered.test.ts',
  'PasswordHost ElDialog': 'test/e2e/password-dialog.test.ts',
  'RecordingsPage RowMenu': 'test/e2e/recordings-page.test.ts',
  'RunningOrders RowMenu': 'test/faults/recordings-ordered.test.ts',
  'RuleDialog ElDialog': 'test/e2e/recordings-page.test.ts',
  'SessionOver dialog': 'test/faults/session-ends.test.ts',
}
