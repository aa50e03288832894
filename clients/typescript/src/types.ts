// Generated from the contract in shared/ by `npm run client-kit`: do not edit.

/** Parameters of `authenticate`. */
export type AuthenticateParameters = {
  access_key: string
  digest: string
}

/** Answer of `authenticate`. */
export type AuthenticateAnswer = {
  random: string
  key: string
}

/** Parameters of `createRoom`. */
export type CreateRoomParameters = {
  /** 1 to 149 bytes of UTF-8. */
  topic: string
  /** 1 to 128 bytes of UTF-8. */
  owner_id: string
  /** A whole number from 1 to 4. */
  room_mode: number
  /** At most 64 bytes of UTF-8. */
  host_password?: string | undefined
  /** A whole number from 0 to 10000. */
  max_video?: number | undefined
  /** A whole number from 0 to 10000. */
  max_audio?: number | undefined
  /** A whole number from 1 to 10000. */
  attendee_max?: number | undefined
  /** 1 to 128 bytes of UTF-8. */
  room_extend_id?: string | undefined
}

/** Answer of `createRoom`. */
export type CreateRoomAnswer = {
  room_id: string
}

/** Parameters of `getRoom`. */
export type GetRoomParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
}

/** Answer of `getRoom`. */
export type GetRoomAnswer = {
  id: number
  room_id: string
  topic: string
  room_status: number
  owner_id: string
  host_password: string
  attendee_max: number
  max_audio: number
  max_video: number
  room_extend_id: string
  room_mode: number
}

/** Parameters of `getRoomByExtendId`. */
export type GetRoomByExtendIdParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_extend_id: string
}

/** Answer of `getRoomByExtendId`. */
export type GetRoomByExtendIdAnswer = GetRoomAnswer

/** Parameters of `updateRoom`. */
export type UpdateRoomParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 149 bytes of UTF-8. */
  topic?: string | undefined
  /** At most 64 bytes of UTF-8. */
  host_password?: string | undefined
  /** A whole number from 0 to 10000. */
  max_video?: number | undefined
  /** A whole number from 0 to 10000. */
  max_audio?: number | undefined
  /** A whole number from 1 to 10000. */
  attendee_max?: number | undefined
  /** A whole number from 1 to 4. */
  room_mode?: number | undefined
}

/** Answer of `updateRoom`. */
export type UpdateRoomAnswer = {
  room_id: string
}

/** Parameters of `deleteRoom`. */
export type DeleteRoomParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
}

/** Answer of `deleteRoom`. */
export type DeleteRoomAnswer = {
  room_id: string
}

/** Parameters of `getMcu`. */
export type GetMcuParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  options?: string | undefined
}

/** Answer of `getMcu`. */
export type GetMcuAnswer = {
  addr: string
}

/** Parameters of `listUsers`. */
export type ListUsersParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
}

/** Answer of `listUsers`. */
export type ListUsersAnswer = {
  user_list: {
    user_name: string
    user_id: string
  }[]
}

/** Parameters of `getUserNumber`. */
export type GetUserNumberParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
}

/** Answer of `getUserNumber`. */
export type GetUserNumberAnswer = {
  user_count_list: {
    room_id: string
    user_count: number
  }[]
}

/** Parameters of `forceOffline`. */
export type ForceOfflineParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id: string
}

/** Answer of `forceOffline`. */
export type ForceOfflineAnswer = {
  msg: string
}

/** Parameters of `joinUrl`. */
export type JoinUrlParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id: string
  /** 1 to 256 bytes of UTF-8. */
  user_name: string
  /** Member or host. */
  role?: 'member' | 'host' | undefined
  /** A whole number from 60 to 2592000. */
  ttl?: number | undefined
}

/** Answer of `joinUrl`. */
export type JoinUrlAnswer = {
  url: string
  short_url: string
  expires_at: number
}

/** Parameters of `recordingStart`. */
export type RecordingStartParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id?: string | undefined
  /** At most 256 bytes of UTF-8. */
  name?: string | undefined
  /** At most 256 bytes of UTF-8. */
  tag?: string | undefined
  /** None, own or room. */
  sound?: 'none' | 'own' | 'room' | undefined
  /** None, main or screen. */
  picture?: 'none' | 'main' | 'screen' | undefined
  /** Mp4 or webm. */
  container?: 'mp4' | 'webm' | undefined
}

/** Answer of `recordingStart`. */
export type RecordingStartAnswer = {
  id: string
  room_id: string
  user_id: string
  name: string
  tag: string
  description: string
  sound: 'none' | 'own' | 'room'
  picture: 'none' | 'main' | 'screen'
  reason: string
  created_at: number
  ended_at: number
  state: 'waiting' | 'recording' | 'finishing' | 'available' | 'failed'
  files: {
    url: string
    user_id: string
    source: 'main' | 'screen'
    container: 'mp4' | 'webm'
    bytes: number
    duration_ms: number
    started_at: number
  }[]
}

/** Parameters of `recordingStop`. */
export type RecordingStopParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `recordingStop`. */
export type RecordingStopAnswer = RecordingStartAnswer

/** Parameters of `recordingGet`. */
export type RecordingGetParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `recordingGet`. */
export type RecordingGetAnswer = RecordingStartAnswer

/** Parameters of `recordingList`. */
export type RecordingListParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id?: string | undefined
  /** 1 to 128 bytes of UTF-8. */
  user_id?: string | undefined
  /** A whole number from 0 to 253402300799999. */
  from?: number | undefined
  /** A whole number from 0 to 253402300799999. */
  to?: number | undefined
  /** A whole number from 0 to 1000000. */
  begin?: number | undefined
  /** A whole number from 1 to 1000. */
  count?: number | undefined
}

/** Answer of `recordingList`. */
export type RecordingListAnswer = {
  total: number
  items: {
    id: string
    room_id: string
    user_id: string
    name: string
    tag: string
    description: string
    sound: 'none' | 'own' | 'room'
    picture: 'none' | 'main' | 'screen'
    reason: string
    created_at: number
    ended_at: number
    state: 'waiting' | 'recording' | 'finishing' | 'available' | 'failed'
    files: {
      url: string
      user_id: string
      source: 'main' | 'screen'
      container: 'mp4' | 'webm'
      bytes: number
      duration_ms: number
      started_at: number
    }[]
  }[]
}

/** Parameters of `recordingDelete`. */
export type RecordingDeleteParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `recordingDelete`. */
export type RecordingDeleteAnswer = {
  id: string
}

/** Parameters of `recordingLink`. */
export type RecordingLinkParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id: string
  /** Main or screen. */
  source?: 'main' | 'screen' | undefined
  /** A whole number from 0 to 253402300799999. */
  from: number
  /** A whole number from 0 to 253402300799999. */
  to: number
  /** A whole number from 60 to 2592000. */
  ttl?: number | undefined
}

/** Answer of `recordingLink`. */
export type RecordingLinkAnswer = {
  hls_url: string
  expires_at: number
}

/** Parameters of `liveStart`. */
export type LiveStartParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id: string
  /** At most 256 bytes of UTF-8. */
  name?: string | undefined
  /** At most 256 bytes of UTF-8. */
  tag?: string | undefined
  /** None, own or room. */
  sound?: 'none' | 'own' | 'room' | undefined
  /** None, main or screen. */
  picture?: 'none' | 'main' | 'screen' | undefined
  /** 1 to 1024 bytes of UTF-8. */
  publish_url?: string | undefined
  /** 1 to 1024 bytes of UTF-8. */
  rtmp_url?: string | undefined
}

/** Answer of `liveStart`. */
export type LiveStartAnswer = {
  id: string
  room_id: string
  user_id: string
  name: string
  tag: string
  description: string
  sound: 'none' | 'own' | 'room'
  picture: 'none' | 'main' | 'screen'
  reason: string
  created_at: number
  ended_at: number
  state: 'waiting' | 'living' | 'stopped' | 'failed'
  page_url: string
  hls_url: string
  rtmp_url: string
}

/** Parameters of `liveStop`. */
export type LiveStopParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `liveStop`. */
export type LiveStopAnswer = LiveStartAnswer

/** Parameters of `liveGet`. */
export type LiveGetParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `liveGet`. */
export type LiveGetAnswer = LiveStartAnswer

/** Parameters of `liveList`. */
export type LiveListParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id?: string | undefined
  /** 1 to 128 bytes of UTF-8. */
  user_id?: string | undefined
  /** A whole number from 0 to 253402300799999. */
  from?: number | undefined
  /** A whole number from 0 to 253402300799999. */
  to?: number | undefined
  /** A whole number from 0 to 1000000. */
  begin?: number | undefined
  /** A whole number from 1 to 1000. */
  count?: number | undefined
}

/** Answer of `liveList`. */
export type LiveListAnswer = {
  total: number
  items: {
    id: string
    room_id: string
    user_id: string
    name: string
    tag: string
    description: string
    sound: 'none' | 'own' | 'room'
    picture: 'none' | 'main' | 'screen'
    reason: string
    created_at: number
    ended_at: number
    state: 'waiting' | 'living' | 'stopped' | 'failed'
    page_url: string
    hls_url: string
    rtmp_url: string
  }[]
}

/** Parameters of `liveDelete`. */
export type LiveDeleteParameters = {
  /** 1 to 64 bytes of UTF-8. */
  id: string
}

/** Answer of `liveDelete`. */
export type LiveDeleteAnswer = {
  id: string
}

/** Parameters of `liveLink`. */
export type LiveLinkParameters = {
  /** 1 to 128 bytes of UTF-8. */
  room_id: string
  /** 1 to 128 bytes of UTF-8. */
  user_id: string
  /** Main or screen. */
  source?: 'main' | 'screen' | undefined
  /** A whole number from 60 to 2592000. */
  ttl?: number | undefined
}

/** Answer of `liveLink`. */
export type LiveLinkAnswer = {
  page_url: string
  hls_url: string
  expires_at: number
}

/** Parameters of `createOutgoingUser`. */
export type CreateOutgoingUserParameters = {
  /** 1 to 128 bytes of UTF-8. */
  roomId: string
  /** 1 to 128 bytes of UTF-8. */
  userId: string
  /** 1 to 256 bytes of UTF-8. */
  userName: string
  /** 1 to 1024 bytes of UTF-8. */
  userAddress: string
  /** At most 4096 bytes of UTF-8. */
  userData?: string | undefined
  options?: string | Record<string, unknown> | undefined
}

/** Answer of `createOutgoingUser`. */
export type CreateOutgoingUserAnswer = {
  data: {
    roomId: string
    userId: string
  }
}

/** Parameters of `destroyOutgoingUser`. */
export type DestroyOutgoingUserParameters = {
  /** 1 to 128 bytes of UTF-8. */
  roomId: string
  /** 1 to 128 bytes of UTF-8. */
  userId: string
  /** 1 to 1024 bytes of UTF-8. */
  userAddress: string
}

/** Answer of `destroyOutgoingUser`. */
export type DestroyOutgoingUserAnswer = {
  data: {
    roomId: string
    userId: string
  }
}

/** Parameters of `listOutgoingUsers`. */
export type ListOutgoingUsersParameters = {
  /** At most 128 bytes of UTF-8. */
  roomId?: string | undefined
}

/** Answer of `listOutgoingUsers`. */
export type ListOutgoingUsersAnswer = {
  data: {
    total: number
    items: {
      roomId: string
      userId: string
      userName: string
      userAddress: string
      userData: string
      options: Record<string, unknown>
    }[]
  }
}
