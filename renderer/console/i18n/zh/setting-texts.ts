import type { SettingTexts } from '../../../../shared/settings.ts'

/** Label and hint of each setting that a card shows. */
export const settingTexts: SettingTexts = {
  listeners: {
    host: { label: '绑定地址', hint: '127.0.0.1 仅限本机，0.0.0.0 为本机所在的所有网络。' },
    link_address: {
      label: '链接中的地址',
      hint: '绑定 0.0.0.0 且有多个网络时，加入链接使用的本机 IPv4 地址。留空则使用第一个。',
    },
    media_port: { label: '媒体房间 API', hint: '' },
    device_port: { label: '外部设备 API', hint: '' },
    node_port: { label: '媒体节点', hint: '' },
    console_port: { label: '控制台', hint: '' },
    serve_console: { label: '向浏览器提供控制台', hint: '' },
    event_port: {
      label: 'Janus 节点事件',
      hint: 'Janus 节点在此上报人员进出。留空即关闭，改为每隔几秒轮询。更改后请重新安装其配置文件。',
    },
  },
  tls: {
    mode: { label: '证书', hint: '自签名证书在本机生成，客户端须另行信任。' },
    cert_file: { label: '证书文件', hint: 'PEM 格式，证书链附在证书之后；填写控制器所在机器上的路径。' },
    key_file: { label: '私钥文件', hint: 'PEM 格式，不带口令。' },
  },
  access: {
    digest_forms: { label: '接受的摘要形式', hint: '会话令牌采用与其摘要相同的形式。' },
    token_idle_ms: { label: '会话闲置多久后结束', hint: '' },
    token_life_ms: { label: '会话最长有效期', hint: '' },
    failures_per_minute: {
      label: '每个地址每分钟的认证失败次数',
      hint: '超过后该地址在本分钟内一律拒绝；0 表示不限。',
    },
  },
  cors_origins: { label: '来源', hint: '每行一个，例如 https://portal.example.org；* 表示任意来源。' },
  room_defaults: {
    attendee_max: { label: '人数上限', hint: '' },
    max_video: { label: '视频路数上限', hint: '' },
    max_audio: { label: '音频路数上限', hint: '' },
  },
  deadlines: {
    store_ms: { label: '磁盘', hint: '超时后，更改应答 700，认证应答 504。' },
    node_ms: { label: 'MCU 节点应答', hint: '超时应答 409。公开客户端 5 秒后放弃。' },
    device_ms: { label: '设备首个数据包', hint: '超时后，创建外部用户应答 427。' },
    health_ms: { label: '节点健康检查', hint: '' },
    health_interval_ms: { label: '健康检查间隔', hint: '' },
    shutdown_ms: { label: '停止时进行中的请求', hint: '控制器停止或监听地址变更时正在处理的请求。' },
  },
  devices: {
    reconnect_first_ms: { label: '首次等待', hint: '' },
    reconnect_longest_ms: { label: '最长等待', hint: '' },
    reconnect_steady_ms: { label: '视为稳定的时长', hint: '加入后更早断开的设备，等待时间会逐次加长。' },
  },
  media: {
    ice_servers: { label: 'STUN 与 TURN 服务器', hint: '提供给浏览器，用于穿越防火墙。' },
    advertised: {
      label: '提供给浏览器的地址',
      hint: '每行一个 IP 地址，用于本机地址无法直接访问（NAT）时。留空则用本机地址。',
    },
    ban_ms: { label: '被移出者多久内不得加入', hint: '' },
    resume_ms: { label: '断线者多久内可恢复', hint: '' },
    trust_any_certificate: { label: '信任摄像头的任意证书（RTSPS）', hint: '多数摄像头的证书未经机构签发。' },
    camera_transport: { label: '传输方式', hint: '' },
    camera_networks: {
      label: '允许的摄像头网络',
      hint: '每行一个 IP 地址或网段，例如 192.168.10.0/24。留空表示不限。',
    },
    camera_answer_ms: { label: '摄像头应答时限', hint: '' },
    camera_stall_ms: { label: '摄像头多久无数据后重连', hint: '' },
    publish_bitrate: { label: '个人摄像头最高码率', hint: '' },
    transcoders: {
      label: '同时转换的摄像头数上限',
      hint: 'H.265、Motion JPEG 等在有人观看时经本机的 ffmpeg 转换，每路最多占用半个处理器核心；仅转换声音时可达八倍路数。0：不使用。',
    },
    screen_bitrate: { label: '屏幕共享最高码率', hint: '' },
    most_tiles: { label: '同时显示的人数', hint: '超出时显示最近发言者；其余的人仍在列表中，声音照常。' },
    udp_port: { label: 'WebRTC 的 UDP 端口', hint: '0 表示与媒体节点的端口号相同。更改会重启节点，参会者会自动重连。' },
    public_url: {
      label: '邀请链接的公开地址',
      hint: '/jroom/ 和 /j/ 之前的部分，例如 https://rooms.example.org；留空则使用媒体 API 的地址。',
    },
    open_rooms: {
      label: '知道房间号的人即可加入',
      hint: '无需邀请链接，只需填写姓名。每个房间可单独设置；任何人都不能加入已锁定或已关闭的房间。',
    },
    link_life_ms: { label: '链接有效期', hint: '创建链接者未另行指定时。' },
  },
  compatibility: {
    older_clients: {
      label: '应答旧版客户端',
      hint: '除加入房间外，旧版客户端无需修改即可使用。其他客户端不受影响：只增加字段和路径。',
    },
    get_access_token: { label: '允许在 URL 中用密钥换取令牌（getAccessToken）', hint: '仅在应答旧版客户端时有效。' },
  },
  events: {
    days: { label: '保留天数', hint: '' },
    megabytes: { label: '保留的 MB 数', hint: '200 MB 约可容纳五十万个事件。' },
  },
  backups: {
    count: { label: '保留份数', hint: '' },
    days: { label: '保留天数', hint: '0 表示不限。' },
  },
  pictures: {
    every_minutes: { label: '间隔（分钟）', hint: '0 表示关闭。仅限内置节点上的摄像头。' },
    per_camera: { label: '每个摄像头的图片数', hint: '最旧的图片会被删除。' },
    megabytes: { label: '磁盘空间（MB）', hint: '所有摄像头合计；最旧的图片会被删除。每张图片占 50 至 300 kB。' },
    days: { label: '保留天数', hint: '' },
  },
  recording: {
    rooms: { label: '房间', hint: '' },
    cameras: { label: '摄像头', hint: '' },
    retention: { label: '保留', hint: '' },
    gigabytes: { label: '所有录像的总容量（GB）', hint: '0：除空闲空间外不限制。' },
    free_gigabytes: { label: '保持空闲的容量（GB）', hint: '磁盘空闲低于此值前停止录像；以两者中较大者为准。' },
    free_percent: { label: '磁盘保持空闲的百分比', hint: '' },
    viewers: { label: '查看者可以看的录像', hint: '操作员和管理员可以看所有录像。' },
    hosts: { label: '主持人可以录制自己的房间', hint: '房间内的按钮；谁开始录制记录在事件中。' },
    announce: { label: '房间开始录制时语音提示一次', hint: '屏幕上的提示始终显示。' },
  },
  object_storage: {
    enabled: { label: '上传已完成的录像段', hint: '关闭后，已上传的录像仍可播放，并按保留设置删除。' },
    endpoint: { label: '地址', hint: '不含存储桶，例如 https://s3.eu-central-1.amazonaws.com。' },
    region: { label: '区域', hint: '许多服务接受任意值。' },
    bucket: { label: '存储桶', hint: '必须已存在。' },
    prefix: { label: '前缀', hint: '加在每个对象名称之前，例如 roomdesk/。留空表示没有。' },
    access_key_id: { label: '密钥 ID', hint: '' },
    secret_access_key: { label: '密钥', hint: '加密保存，从不显示。' },
    path_style: { label: '存储桶写在路径中', hint: '关闭后，存储桶写在主机名中。' },
    ca_file: {
      label: '证书颁发机构',
      hint: 'Roomdesk 所在机器上的 PEM 文件，用于自有颁发机构的证书。留空表示仅信任公认的颁发机构。',
    },
    networks: {
      label: '允许的网络',
      hint: '每行一个 IP 地址或网段，例如 192.0.2.0/24。留空表示不限，但不包括本机、链路本地地址和元数据服务。',
    },
    keep_local_hours: {
      label: '同时保留在本地磁盘的小时数',
      hint: '已上传的录像段在此时间后离开磁盘；磁盘需要空间时会更早。',
    },
  },
  trash: {
    days: { label: '保留天数', hint: '0 表示关闭：删除的内容无法恢复。只对之后的删除生效。' },
  },
  live: {
    embed_origins: {
      label: '允许嵌入播放器的网页',
      hint: '每行一个来源，例如 https://intranet.example.org。留空表示仅限本站点。',
    },
    push_networks: {
      label: '允许的 RTMP 网络',
      hint: '每行一个 IP 地址或网段，例如 192.0.2.0/24。留空表示不限，但不包括本机、链路本地地址和元数据服务。',
    },
    push_ca_file: {
      label: 'RTMP 证书颁发机构',
      hint: 'Roomdesk 所在机器上的 PEM 文件，用于证书由自有颁发机构签发的 rtmps:// 服务器。留空表示仅信任公认的颁发机构。',
    },
  },
  console: {
    language: { label: '语言', hint: '' },
    theme: { label: '主题', hint: '' },
    metrics_token: { label: '要求访问令牌', hint: '否则任何能访问控制台端口的人都可以读取。' },
    thumbnails: { label: '列表中显示缩略图', hint: '仅限已加入的摄像头，每分钟一张，只保存在显示列表的浏览器中。' },
    viewers_watch: {
      label: '允许查看者观看会议',
      hint: '会议中的人不会得知有人在观看。关闭后，仅操作员和管理员可以观看；摄像头始终对查看者开放。',
    },
    activity_entries: { label: '保留的请求数', hint: '5,000 条约占 5 MB，最旧的先清除。' },
  },
}
