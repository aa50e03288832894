/** Limits used by several programs. Lengths are in bytes of UTF-8 unless stated otherwise. */
export const limits = {
  /** Maximum length of a request target, in bytes (contract, section 1). */
  requestTarget: 8 * 1024,
  /** Maximum length of a request body, in bytes (contract, section 1). */
  requestBody: 64 * 1024,
  /** Maximum length of a JSONP callback name, in characters (contract, section 1). */
  callback: 100,
  /** The specification requires fewer than 150 bytes (section 8). */
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
  /** Length of the JSON text of a device's options. */
  deviceOptions: 8 * 1024,
  /** Limits of a room (contract, section 3). */
  maxStreams: 10_000,
  maxAttendees: 10_000,
  label: 100,
  accessKey: 128,
  secretKey: 256,
  nodeName: 64,
  nodeAddresses: 16,
  /** Valid sessions per credential; beyond the limit, the least recently used session ends (contract, section 2). */
  sessionsPerCredential: 10_000,
  /** Length in characters. */
  accountName: 64,
  /** Sessions per account; beyond the limit, the least recently used session ends. */
  sessionsPerAccount: 50,
  tokensPerAccount: 50,
  /** Limits of a site; operations that would exceed them are rejected. */
  accounts: 200,
  credentials: 1_000,
  nodes: 100,
  devices: 5_000,
  rooms: 1_000_000,
  /** Number of tags per record; `tagLength`: length of a tag in characters. */
  tagsOfRecord: 20,
  tagLength: 40,
  /** Number of different tags of a site's rooms; the same limit applies to its devices. */
  tags: 1_000,
  wallViews: 50,
  roomTemplates: 100,
  /**
   * Stored recordings started by clients of the APIs; beyond the limit, those that ended first are deleted. `lives`:
   * the same for live streams.
   */
  recordings: 10_000,
  lives: 10_000,
  /** Number of active recordings; `activeLives`: of active live streams. */
  activeRecordings: 500,
  activeLives: 200,
  /**
   * Active live streams with the mixed sound of their room, which decode the sound of every user. `activePushes`: those
   * pushed to RTMP servers.
   */
  activeMixes: 4,
  activePushes: 50,
  /** Active recordings started by buttons and by clients. */
  manualRecordings: 2_000,
  /** Spans of recordings kept regardless of the retention. */
  keptSpans: 5_000,
  /** Valid links of one kind: to live streams, or to recorded spans. */
  linksPerRoom: 2_000,
  links: 20_000,
  /** Valid join links, enough for one per attendee of the largest room. */
  joinLinksPerRoom: 15_000,
  joinLinks: 50_000,
  /**
   * Links of one kind per account, including those of its tokens. A revoked join link counts until its regular expiry.
   */
  accountLinks: 5_000,
  /** Stored join links, including revoked ones that have not expired, which nodes reject by id. */
  joinRecords: 100_000,
  /** All stored capabilities, including links. */
  capabilities: 160_000,
  recordingName: 256,
  recordingTag: 256,
  recordingDescription: 1024,
  /** Length of an address of a live stream. */
  liveUrl: 1024,
  /**
   * Entries of the trash. `trashBytes`: size of their JSON in bytes. Beyond either limit, the oldest are deleted
   * permanently.
   */
  trash: 100_000,
  trashBytes: 64 * 1024 * 1024,
  /** Number of tiles visible on a wall. */
  wallTiles: 36,
  /** Number of cameras and rooms of a wall, on all of its pages. */
  wallItems: 200,
  /** Displays of one computer for which walls can be chosen, including disconnected displays. */
  wallDisplays: 32,
  /** Favorite rooms per browser; the same limit applies to favorite cameras. */
  favourites: 500,
  /** Maximum number of rows per page of the console. */
  pageSize: 500,
  /** Client addresses that a failure counter stores. */
  rememberedAddresses: 10_000,
} as const
