import type { RouteComponent } from 'vue-router'
import type { SubjectType } from '../../shared/domain/events.ts'
import type { Role } from '../../shared/domain/roles.ts'
import type { HelpTopic } from './help/topics.ts'
import type { FirstTextKey } from './i18n/text.ts'

/** Sections of the navigation, in order. */
export const navigationParts = ['daily', 'system'] as const
type NavigationPart = (typeof navigationParts)[number]

/** A page of the console. */
interface PageRow {
  /** Path behind `#`, in the syntax of vue-router, with parameters only at the end. */
  path: `/${string}`
  load: () => Promise<RouteComponent>
  /** Minimum role. The controller checks each call anyway. */
  role: Role
  /** Section of the navigation; undefined: the page is reached by links only. */
  navigation?: NavigationPart
  /** Name in the navigation, the search and the list of shortcuts; undefined: the page is in none of them. */
  title?: FirstTextKey
  /** Letter that opens the page after `g`. */
  key?: string
  /** Topic of the help link beside the heading. */
  help?: HelpTopic
  /** Subjects of events that the page shows, with their addresses; `:id` is the id of the subject. */
  subjects?: Readonly<Partial<Record<SubjectType, `/${string}`>>>
}

/** A page in the navigation, with the icon of its name. */
interface NavigationRow extends PageRow {
  navigation: NavigationPart
  title: FirstTextKey
  /** The page is a tab at the bottom of a phone. The others are behind "More". */
  tab?: true
}

/** A page reached by links only. */
interface OtherRow extends PageRow {
  navigation?: never
}

/**
 * Every page by its name, in the order of the navigation. Router, navigation, roles, shortcuts, search and the links of
 * events read this table.
 */
export const pages = {
  overview: {
    path: '/overview',
    load: () => import('./pages/OverviewPage.vue'),
    role: 'viewer',
    title: 'overview.title',
    navigation: 'daily',
    tab: true,
    key: 'o',
  },
  rooms: {
    path: '/rooms/:room?',
    load: () => import('./pages/RoomsPage.vue'),
    role: 'viewer',
    title: 'rooms.title',
    navigation: 'daily',
    tab: true,
    key: 'r',
    subjects: { room: '/rooms/:id' },
  },
  devices: {
    path: '/devices/:user?',
    load: () => import('./pages/DevicesPage.vue'),
    role: 'viewer',
    title: 'devices.title',
    navigation: 'daily',
    tab: true,
    key: 'd',
    help: 'cameras',
    subjects: { device: '/devices/:id' },
  },
  wall: {
    path: '/wall/:view?',
    load: () => import('./pages/WallPage.vue'),
    role: 'viewer',
    title: 'nav.wall',
    navigation: 'daily',
    key: 'w',
    help: 'wall',
  },
  recordings: {
    path: '/recordings',
    load: () => import('./pages/RecordingsPage.vue'),
    role: 'viewer',
    title: 'nav.recordings',
    navigation: 'daily',
    key: 'v',
    help: 'recordings',
  },
  ordered: {
    path: '/recordings/ordered',
    load: () => import('./pages/OrderedPage.vue'),
    role: 'viewer',
  },
  events: {
    path: '/events',
    load: () => import('./pages/EventsPage.vue'),
    role: 'viewer',
    title: 'eventLog.title',
    navigation: 'daily',
    tab: true,
    key: 'e',
    help: 'eventLog',
  },
  nodes: {
    path: '/nodes/:name?',
    load: () => import('./pages/NodesPage.vue'),
    role: 'viewer',
    title: 'nodes.title',
    navigation: 'system',
    key: 'n',
    help: 'nodes',
    subjects: { node: '/nodes/:id' },
  },
  controllers: {
    path: '/controllers/:id?',
    load: () => import('./pages/ControllersPage.vue'),
    role: 'viewer',
    title: 'controllers.title',
    navigation: 'system',
    key: 'k',
    help: 'controllers',
    subjects: { controller: '/controllers' },
  },
  credentials: {
    path: '/credentials/:key?',
    load: () => import('./pages/CredentialsPage.vue'),
    role: 'admin',
    title: 'nav.credentials',
    navigation: 'system',
    key: 'c',
    help: 'clients',
    subjects: { credential: '/credentials/:id' },
  },
  activity: {
    path: '/activity',
    load: () => import('./pages/ActivityPage.vue'),
    role: 'viewer',
    title: 'nav.activity',
    navigation: 'system',
    key: 'a',
  },
  tester: {
    path: '/tester',
    load: () => import('./pages/TesterPage.vue'),
    role: 'admin',
    title: 'nav.tester',
    navigation: 'system',
    key: 't',
  },
  trash: {
    path: '/trash',
    load: () => import('./pages/TrashPage.vue'),
    role: 'operator',
    title: 'nav.trash',
    navigation: 'system',
    key: 'x',
    help: 'trash',
  },
  settings: {
    path: '/settings/:tab?',
    load: () => import('./pages/SettingsPage.vue'),
    role: 'admin',
    title: 'nav.settings',
    navigation: 'system',
    key: 's',
    subjects: { licence: '/settings/licence', settings: '/settings', backup: '/settings/data' },
  },
  lab: {
    path: '/lab',
    load: () => import('./pages/LabPage.vue'),
    role: 'operator',
    title: 'nav.lab',
    navigation: 'system',
    key: 'l',
    help: 'lab',
    subjects: { lab: '/lab' },
  },
  client: { path: '/clients/:key', load: () => import('./pages/ClientPage.vue'), role: 'admin' },
  scenarios: {
    path: '/lab/scenarios',
    load: () => import('./pages/ScenariosPage.vue'),
    role: 'admin',
  },
  readiness: {
    path: '/readiness',
    load: () => import('./pages/ReadinessPage.vue'),
    role: 'operator',
    title: 'readiness.title',
    help: 'readiness',
  },
  account: {
    path: '/account',
    load: () => import('./pages/AccountPage.vue'),
    role: 'viewer',
    title: 'accounts.title',
  },
  help: {
    path: '/help',
    load: () => import('./pages/HelpPage.vue'),
    role: 'viewer',
    title: 'nav.help',
    key: 'h',
  },
  welcome: { path: '/welcome/:step?', load: () => import('./pages/WelcomePage.vue'), role: 'admin' },
  certificate: {
    path: '/certificate',
    load: () => import('./pages/CertificatePage.vue'),
    role: 'viewer',
  },
  kiosk: { path: '/kiosk/:view', load: () => import('./pages/KioskPage.vue'), role: 'viewer' },
  missing: { path: '/:rest(.*)*', load: () => import('./pages/MissingPage.vue'), role: 'viewer' },
} as const satisfies Record<string, NavigationRow | OtherRow>

export type PageName = keyof typeof pages
/** A page with a title. */
export type TitledPageName = {
  [N in PageName]: (typeof pages)[N] extends { title: FirstTextKey } ? N : never
}[PageName]

/** A page in the navigation. */
export type NavigationPageName = {
  [N in PageName]: (typeof pages)[N] extends NavigationRow ? N : never
}[PageName]

type Addressed<Row> = Row & {
  name: PageName
  /** Path without its parameters. */
  address: string
}
type Page = Addressed<NavigationRow> | Addressed<OtherRow>

const rows: Readonly<Record<PageName, NavigationRow | OtherRow>> = pages
/** Every page, in the order of the navigation. */
export const allPages = (Object.keys(rows) as PageName[]).map((name): Page => {
  const row = rows[name]
  return { ...row, name, address: row.path.replace(/\/:.*/, '') }
})

/** Pages in the navigation, in its order. */
export const navigationPages = allPages.flatMap((page) =>
  page.navigation === undefined ? [] : [{ ...page, name: page.name as NavigationPageName }],
)

/** Pages with a title, for the search and the list of shortcuts. */
export const titledPages = allPages.flatMap(({ title, ...page }) => (title === undefined ? [] : [{ ...page, title }]))

/** Returns the role that a path requires. The path may have a query. */
export function pageRole(path: string): Role {
  const [bare = ''] = path.split(/[?#]/)
  const page = allPages.find(({ address }) => address !== '' && `${bare}/`.startsWith(`${address}/`))
  return page?.role ?? 'viewer'
}

/** Returns the address of the page that shows the subject of an event; empty: no page does. */
export function subjectAddress(type: SubjectType, id: string): string {
  const address = allPages.map(({ subjects }) => subjects?.[type]).find((one) => one !== undefined)
  return address?.replace(':id', encodeURIComponent(id)) ?? ''
}

/** Returns the topic of the help link of a page. */
export function helpOf(name: PageName): HelpTopic | undefined {
  return rows[name].help
}
