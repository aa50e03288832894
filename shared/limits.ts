/** Limits shared by both processes. Lengths are bytes of UTF-8 unless the name says otherwise. */
export const limits = {
  /** Maximum length of a request target, in bytes (contract, section 1). */
  requestTarget: 8 * 1024,
  /** Maximum length of a request body, in bytes (contract, section 1). */
  requestBody: 64 * 1024,
  /** Maximum length of a JSONP callback name, in characters (contract, section 1). */
  callback: 100,
  /** "Fewer than 150 bytes" (specification, section 8). */
  topic: 149,
  ownerId: 128,
  roomExtendId: 128,
  hostPassword: 64,
  userId: 128,
  userName: 256,
  userData: 4096,
  userAddress: 1024,
  loginName: 256,
  loginPassword: 256,
  /** JSON text of an outgoing user's options. */
  deviceOptions: 8 * 1024,
  /** Limits of a room (contract, section 3). */
  maxStreams: 10_000,
  maxAttendees: 10_000,
  label: 100,
  accessKey: 128,
  secretKey: 256,
  nodeName: 64,
  nodeAddresses: 16,
  /** Live sessions per credential; the least recently used one ends first (contract, section 2). */
  sessionsPerCredential: 10_000,
  /** Characters. */
  accountName: 64,
  /** Limits of one account: sessions (the least recently used ends first) and access tokens. */
  sessionsPerAccount: 50,
  tokensPerAccount: 50,
  /** Limits of a site; beyond one an operation is refused with a message. */
  accounts: 200,
  credentials: 1_000,
  nodes: 100,
  devices: 5_000,
  rooms: 1_000_000,
  /** Tags of one record, and the characters of one. */
  tagsOfRecord: 20,
  tagLength: 40,
  /** Different tags of the rooms of a site, and of its devices. */
  tags: 1_000,
  wallViews: 50,
  roomTemplates: 100,
  /** Stored recordings that clients of the APIs started, and live streams; beyond it the oldest that ended are deleted. */
  recordings: 10_000,
  lives: 10_000,
  /** Those under way at once. */
  activeRecordings: 500,
  activeLives: 200,
  /** Live streams under way with the sound of their room (each decodes every voice), and those that are pushed. */
  activeMixes: 4,
  activePushes: 50,
  /** Recordings that buttons and clients have started and not stopped. */
  manualRecordings: 2_000,
  /** Spans of recordings that are kept whatever the retention. */
  keptSpans: 5_000,
  /** Links of one kind that are in force: to a live stream, or to a recorded span. */
  linksPerRoom: 2_000,
  links: 20_000,
  /** Links to join that are in force: each attendee of the largest room may have one. */
  joinLinksPerRoom: 15_000,
  joinLinks: 50_000,
  /** Links of one kind that one account may have with all its tokens; ended links to join count until they would have expired. */
  accountLinks: 5_000,
  /** Stored links to join, also ended ones that have not expired: nodes refuse them by their ids. */
  joinRecords: 100_000,
  /** Links of all kinds, with everything else that is open to holders of an address. */
  capabilities: 160_000,
  recordingName: 256,
  recordingTag: 256,
  recordingDescription: 1024,
  /** Addresses of a live stream. */
  liveUrl: 1024,
  /** Entries of the trash, and bytes of their JSON; beyond either the oldest are deleted for good. */
  trash: 100_000,
  trashBytes: 64 * 1024 * 1024,
  /** Tiles of a wall at once. */
  wallTiles: 36,
  /** Cameras and rooms of a wall, on all of its pages. */
  wallItems: 200,
  /** Displays of one computer that walls are chosen for, unplugged ones included. */
  wallDisplays: 32,
  /** Favourite rooms of one browser, and favourite cameras. */
  favourites: 500,
  /** Maximum number of rows per page of the console. */
  pageSize: 500,
  /** Client addresses stored by a failure counter. */
  rememberedAddresses: 10_000,
} as const
