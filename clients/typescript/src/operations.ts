// Generated from the contract in shared/ by `npm run client-kit`: do not edit.

import type * as types from './types.ts'

export type ApiName = 'media' | 'device'

/** Description of an operation. */
export interface Operation {
  api: ApiName
  path: string
  /** Name of the token parameter; null: no token is required. */
  token: string | null
  /** Whether the operation may be repeated after a lost answer. */
  safe: boolean
}

export const operations = {
  authenticate: { api: 'media', path: '/rtc/auth/valid', token: null, safe: true },
  createRoom: { api: 'media', path: '/rtc/room/create', token: 'access_token', safe: false },
  getRoom: { api: 'media', path: '/rtc/room/get', token: 'access_token', safe: true },
  getRoomByExtendId: { api: 'media', path: '/rtc/room/get_by_room_extend_id', token: 'access_token', safe: true },
  updateRoom: { api: 'media', path: '/rtc/room/update', token: 'access_token', safe: false },
  deleteRoom: { api: 'media', path: '/rtc/room/del', token: 'access_token', safe: false },
  getMcu: { api: 'media', path: '/sdk/get_mcu', token: 'access_token', safe: true },
  listUsers: { api: 'media', path: '/rtc/room/get_room_info', token: 'access_token', safe: true },
  getUserNumber: { api: 'media', path: '/rtc/room/get_user_number', token: 'access_token', safe: true },
  forceOffline: { api: 'media', path: '/rtc/force_offline_mcu', token: 'access_token', safe: false },
  joinUrl: { api: 'media', path: '/rtc/room/join_url', token: 'access_token', safe: true },
  recordingStart: { api: 'media', path: '/rtc/recording/start', token: 'access_token', safe: false },
  recordingStop: { api: 'media', path: '/rtc/recording/stop', token: 'access_token', safe: true },
  recordingGet: { api: 'media', path: '/rtc/recording/get', token: 'access_token', safe: true },
  recordingList: { api: 'media', path: '/rtc/recording/list', token: 'access_token', safe: true },
  recordingDelete: { api: 'media', path: '/rtc/recording/delete', token: 'access_token', safe: false },
  recordingLink: { api: 'media', path: '/rtc/recording/link', token: 'access_token', safe: true },
  liveStart: { api: 'media', path: '/rtc/live/start', token: 'access_token', safe: false },
  liveStop: { api: 'media', path: '/rtc/live/stop', token: 'access_token', safe: true },
  liveGet: { api: 'media', path: '/rtc/live/get', token: 'access_token', safe: true },
  liveList: { api: 'media', path: '/rtc/live/list', token: 'access_token', safe: true },
  liveDelete: { api: 'media', path: '/rtc/live/delete', token: 'access_token', safe: false },
  liveLink: { api: 'media', path: '/rtc/live/link', token: 'access_token', safe: true },
  createOutgoingUser: {
    api: 'device',
    path: '/avd/api/outgoing/createOutgoingUser',
    token: 'accessToken',
    safe: false,
  },
  destroyOutgoingUser: {
    api: 'device',
    path: '/avd/api/outgoing/destroyOutgoingUser',
    token: 'accessToken',
    safe: false,
  },
  listOutgoingUsers: { api: 'device', path: '/avd/api/outgoing/getOutgoingUsers', token: 'accessToken', safe: true },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

/** Types of each operation. */
export interface OperationTypes {
  authenticate: { parameters: types.AuthenticateParameters; answer: types.AuthenticateAnswer }
  createRoom: { parameters: types.CreateRoomParameters; answer: types.CreateRoomAnswer }
  getRoom: { parameters: types.GetRoomParameters; answer: types.GetRoomAnswer }
  getRoomByExtendId: { parameters: types.GetRoomByExtendIdParameters; answer: types.GetRoomByExtendIdAnswer }
  updateRoom: { parameters: types.UpdateRoomParameters; answer: types.UpdateRoomAnswer }
  deleteRoom: { parameters: types.DeleteRoomParameters; answer: types.DeleteRoomAnswer }
  getMcu: { parameters: types.GetMcuParameters; answer: types.GetMcuAnswer }
  listUsers: { parameters: types.ListUsersParameters; answer: types.ListUsersAnswer }
  getUserNumber: { parameters: types.GetUserNumberParameters; answer: types.GetUserNumberAnswer }
  forceOffline: { parameters: types.ForceOfflineParameters; answer: types.ForceOfflineAnswer }
  joinUrl: { parameters: types.JoinUrlParameters; answer: types.JoinUrlAnswer }
  recordingStart: { parameters: types.RecordingStartParameters; answer: types.RecordingStartAnswer }
  recordingStop: { parameters: types.RecordingStopParameters; answer: types.RecordingStopAnswer }
  recordingGet: { parameters: types.RecordingGetParameters; answer: types.RecordingGetAnswer }
  recordingList: { parameters: types.RecordingListParameters; answer: types.RecordingListAnswer }
  recordingDelete: { parameters: types.RecordingDeleteParameters; answer: types.RecordingDeleteAnswer }
  recordingLink: { parameters: types.RecordingLinkParameters; answer: types.RecordingLinkAnswer }
  liveStart: { parameters: types.LiveStartParameters; answer: types.LiveStartAnswer }
  liveStop: { parameters: types.LiveStopParameters; answer: types.LiveStopAnswer }
  liveGet: { parameters: types.LiveGetParameters; answer: types.LiveGetAnswer }
  liveList: { parameters: types.LiveListParameters; answer: types.LiveListAnswer }
  liveDelete: { parameters: types.LiveDeleteParameters; answer: types.LiveDeleteAnswer }
  liveLink: { parameters: types.LiveLinkParameters; answer: types.LiveLinkAnswer }
  createOutgoingUser: { parameters: types.CreateOutgoingUserParameters; answer: types.CreateOutgoingUserAnswer }
  destroyOutgoingUser: { parameters: types.DestroyOutgoingUserParameters; answer: types.DestroyOutgoingUserAnswer }
  listOutgoingUsers: { parameters: types.ListOutgoingUsersParameters; answer: types.ListOutgoingUsersAnswer }
}

/** A method for each operation. All reject as `call` does. */
export abstract class Operations {
  abstract call<N extends OperationName>(
    name: N,
    parameters: OperationTypes[N]['parameters'],
    signal?: AbortSignal,
  ): Promise<OperationTypes[N]['answer']>

  /** Authenticate a client with its key pair; opens a session. `/rtc/auth/valid` */
  authenticate(parameters: types.AuthenticateParameters, signal?: AbortSignal): Promise<types.AuthenticateAnswer> {
    return this.call('authenticate', parameters, signal)
  }

  /** Create a room. `/rtc/room/create` */
  createRoom(parameters: types.CreateRoomParameters, signal?: AbortSignal): Promise<types.CreateRoomAnswer> {
    return this.call('createRoom', parameters, signal)
  }

  /** Read a room. `/rtc/room/get` */
  getRoom(parameters: types.GetRoomParameters, signal?: AbortSignal): Promise<types.GetRoomAnswer> {
    return this.call('getRoom', parameters, signal)
  }

  /** Read a room by the identifier that its creator chose. Beyond the specification: `/rtc/room/get_by_room_extend_id` */
  getRoomByExtendId(
    parameters: types.GetRoomByExtendIdParameters,
    signal?: AbortSignal,
  ): Promise<types.GetRoomByExtendIdAnswer> {
    return this.call('getRoomByExtendId', parameters, signal)
  }

  /** Change a room. Beyond the specification: `/rtc/room/update` */
  updateRoom(parameters: types.UpdateRoomParameters, signal?: AbortSignal): Promise<types.UpdateRoomAnswer> {
    return this.call('updateRoom', parameters, signal)
  }

  /** Delete a room; everybody in it is removed. `/rtc/room/del` */
  deleteRoom(parameters: types.DeleteRoomParameters, signal?: AbortSignal): Promise<types.DeleteRoomAnswer> {
    return this.call('deleteRoom', parameters, signal)
  }

  /** The address of the MCU that serves a room. `/sdk/get_mcu` */
  getMcu(parameters: types.GetMcuParameters, signal?: AbortSignal): Promise<types.GetMcuAnswer> {
    return this.call('getMcu', parameters, signal)
  }

  /** List the users in a room. `/rtc/room/get_room_info` */
  listUsers(parameters: types.ListUsersParameters, signal?: AbortSignal): Promise<types.ListUsersAnswer> {
    return this.call('listUsers', parameters, signal)
  }

  /** The number of users in a room. Beyond the specification: `/rtc/room/get_user_number` */
  getUserNumber(parameters: types.GetUserNumberParameters, signal?: AbortSignal): Promise<types.GetUserNumberAnswer> {
    return this.call('getUserNumber', parameters, signal)
  }

  /** Remove a user from a room. `/rtc/force_offline_mcu` */
  forceOffline(parameters: types.ForceOfflineParameters, signal?: AbortSignal): Promise<types.ForceOfflineAnswer> {
    return this.call('forceOffline', parameters, signal)
  }

  /** A join link with which one user joins a room in a browser. Beyond the specification: `/rtc/room/join_url` */
  joinUrl(parameters: types.JoinUrlParameters, signal?: AbortSignal): Promise<types.JoinUrlAnswer> {
    return this.call('joinUrl', parameters, signal)
  }

  /** Record a room, a person or a camera from now on. Beyond the specification: `/rtc/recording/start` */
  recordingStart(
    parameters: types.RecordingStartParameters,
    signal?: AbortSignal,
  ): Promise<types.RecordingStartAnswer> {
    return this.call('recordingStart', parameters, signal)
  }

  /** End a recording: its files are made. Beyond the specification: `/rtc/recording/stop` */
  recordingStop(parameters: types.RecordingStopParameters, signal?: AbortSignal): Promise<types.RecordingStopAnswer> {
    return this.call('recordingStop', parameters, signal)
  }

  /** One recording, with the addresses of its files. Beyond the specification: `/rtc/recording/get` */
  recordingGet(parameters: types.RecordingGetParameters, signal?: AbortSignal): Promise<types.RecordingGetAnswer> {
    return this.call('recordingGet', parameters, signal)
  }

  /** Recordings, the newest first. Beyond the specification: `/rtc/recording/list` */
  recordingList(
    parameters: types.RecordingListParameters = {},
    signal?: AbortSignal,
  ): Promise<types.RecordingListAnswer> {
    return this.call('recordingList', parameters, signal)
  }

  /** Delete a recording and its files; one that is under way ends. Beyond the specification: `/rtc/recording/delete` */
  recordingDelete(
    parameters: types.RecordingDeleteParameters,
    signal?: AbortSignal,
  ): Promise<types.RecordingDeleteAnswer> {
    return this.call('recordingDelete', parameters, signal)
  }

  /** Address of an HLS playlist of what was recorded of a camera or a person in a span, which expires. Beyond the specification: `/rtc/recording/link` */
  recordingLink(parameters: types.RecordingLinkParameters, signal?: AbortSignal): Promise<types.RecordingLinkAnswer> {
    return this.call('recordingLink', parameters, signal)
  }

  /** Stream a person or a camera live, by HLS and, if wished, to an RTMP server. Beyond the specification: `/rtc/live/start` */
  liveStart(parameters: types.LiveStartParameters, signal?: AbortSignal): Promise<types.LiveStartAnswer> {
    return this.call('liveStart', parameters, signal)
  }

  /** End a live stream. Beyond the specification: `/rtc/live/stop` */
  liveStop(parameters: types.LiveStopParameters, signal?: AbortSignal): Promise<types.LiveStopAnswer> {
    return this.call('liveStop', parameters, signal)
  }

  /** One live stream, with its addresses. Beyond the specification: `/rtc/live/get` */
  liveGet(parameters: types.LiveGetParameters, signal?: AbortSignal): Promise<types.LiveGetAnswer> {
    return this.call('liveGet', parameters, signal)
  }

  /** Live streams, the newest first. Beyond the specification: `/rtc/live/list` */
  liveList(parameters: types.LiveListParameters = {}, signal?: AbortSignal): Promise<types.LiveListAnswer> {
    return this.call('liveList', parameters, signal)
  }

  /** End and forget a live stream: its addresses are void. Beyond the specification: `/rtc/live/delete` */
  liveDelete(parameters: types.LiveDeleteParameters, signal?: AbortSignal): Promise<types.LiveDeleteAnswer> {
    return this.call('liveDelete', parameters, signal)
  }

  /** Addresses to watch a camera or a person live, which expire. The stream runs while somebody watches. Beyond the specification: `/rtc/live/link` */
  liveLink(parameters: types.LiveLinkParameters, signal?: AbortSignal): Promise<types.LiveLinkAnswer> {
    return this.call('liveLink', parameters, signal)
  }

  /** Create an outgoing user: the device joins the room, and is streaming when ret is 0. `/avd/api/outgoing/createOutgoingUser` */
  createOutgoingUser(
    parameters: types.CreateOutgoingUserParameters,
    signal?: AbortSignal,
  ): Promise<types.CreateOutgoingUserAnswer> {
    return this.call('createOutgoingUser', parameters, signal)
  }

  /** Remove an outgoing user: it leaves the room. `/avd/api/outgoing/destroyOutgoingUser` */
  destroyOutgoingUser(
    parameters: types.DestroyOutgoingUserParameters,
    signal?: AbortSignal,
  ): Promise<types.DestroyOutgoingUserAnswer> {
    return this.call('destroyOutgoingUser', parameters, signal)
  }

  /** List outgoing users, of one room or of all. `/avd/api/outgoing/getOutgoingUsers` */
  listOutgoingUsers(
    parameters: types.ListOutgoingUsersParameters = {},
    signal?: AbortSignal,
  ): Promise<types.ListOutgoingUsersAnswer> {
    return this.call('listOutgoingUsers', parameters, signal)
  }
}
