/** Limits shared by both processes. Lengths are in bytes of UTF-8 unless the comment says otherwise. */
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
  /** Valid sessions per credential; the least recently used one ends first (contract, section 2). */
  sessionsPerCredential: 10_000,
  /** In characters. */
  accountName: 64,
  /** Limits of one account: sessions (the least recently used ends first) and access tokens. */
  sessionsPerAccount: 50,
  tokensPerAccount: 50,
  /** Limits of a site; beyond a limit, operations are refused with a message. */
  accounts: 200,
  credentials: 1_000,
  nodes: 100,
  devices: 5_000,
  rooms: 1_000_000,
  /** Number of tags per record, and their length in characters. */
  tagsOfRecord: 20,
  tagLength: 40,
  /** Number of different tags of a site's rooms, and of its devices. */
  tags: 1_000,
  wallViews: 50,
  roomTemplates: 100,
  /**
   * Stored recordings and live streams started by clients of the APIs; beyond the limit, those that ended first are
   * deleted.
   */
  recordings: 10_000,
  lives: 10_000,
  /** Maximum number of active ones. */
  activeRecordings: 500,
  activeLives: 200,
  /** Active live streams with the sound of their room, which decode every voice, and those that are pushed. */
  activeMixes: 4,
  activePushes: 50,
  /** Active recordings started by buttons and clients. */
  manualRecordings: 2_000,
  /** Spans of recordings kept regardless of the retention. */
  keptSpans: 5_000,
  /** Valid links of one kind: to a live stream, or to a recorded span. */
  linksPerRoom: 2_000,
  links: 20_000,
  /** Valid join links: each attendee of the largest room may have one. */
  joinLinksPerRoom: 15_000,
  joinLinks: 50_000,
  /** Links of one kind per account, including all its tokens. Ended join links count until their regular expiry. */
  accountLinks: 5_000,
  /** Stored join links, including ended ones that have not expired: nodes refuse them by id. */
  joinRecords: 100_000,
  /** All links, and all other capabilities. */
  capabilities: 160_000,
  recordingName: 256,
  recordingTag: 256,
  recordingDescription: 1024,
  /** Addresses of a live stream. */
  liveUrl: 1024,
  /** Entries of the trash, and bytes of their JSON; beyond either limit, the oldest are deleted permanently. */
  trash: 100_000,
  trashBytes: 64 * 1024 * 1024,
  /** Number of tiles visible on a wall. */
  wallTiles: 36,
  /** Number of cameras and rooms of a wall, on all of its pages. */
  wallItems: 200,
  /** Displays of one computer for which walls are chosen, including disconnected ones. */
  wallDisplays: 32,
  /** Favourite rooms per browser, and favourite cameras. */
  favourites: 500,
  /** Maximum number of rows per page of the console. */
  pageSize: 500,
  /** Number of client addresses stored by a failure counter. */
  rememberedAddresses: 10_000,
} as const
